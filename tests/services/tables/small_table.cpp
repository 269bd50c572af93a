#include "tests/services/tables/small_table.hpp"

#include <gtest/gtest.h>

#include "evershard/services/tables/table_keys.hpp"

namespace evershard::actors {
namespace {
constexpr std::string_view family = "t";
}

RecordedEvent happened(std::string type, const std::string& aggregate, std::string payload, std::vector<Tag> tags,
                       std::uint64_t position) {
  RecordedEvent event;
  event.position = GlobalPosition{position};
  event.type = std::move(type);
  if (!aggregate.empty()) event.aggregate = *AggregateId::parse(aggregate);
  event.seq_nr = SeqNr{position};
  event.payload = std::move(payload);
  event.format = PayloadFormat::json;
  event.tags = std::move(tags);
  event.occurred_at = Timestamp{1'000'000 * static_cast<std::int64_t>(position)};
  return event;
}

ValueSource at_path(std::string_view path) {
  return {.kind = ValueSource::Kind::payload, .path = JsonPath::parse(path).value()};
}
ValueSource said(ValueSource::Kind kind) { return {.kind = kind}; }
ValueSource constant(std::string json) { return {.kind = ValueSource::Kind::constant, .constant = std::move(json)}; }

TableDefinition orders_by_rules() {
  TableDefinition orders;
  orders.schema = {"orders",
                   {{"order", FieldType::text, FieldRole::key},
                    {"customer", FieldType::text, FieldRole::index, true},
                    {"total", FieldType::integer, FieldRole::normal, true},
                    {"mail", FieldType::text, FieldRole::unique, true}}};
  const std::vector<std::pair<std::string, ValueSource>> key{{"order", said(ValueSource::Kind::aggregate)}};
  const std::vector<std::pair<std::string, ValueSource>> all{
      {"customer", at_path("$.customer")}, {"total", at_path("$.total")}, {"mail", at_path("$.mail")}};
  orders.made_by = std::vector<MappingRule>{
      {{"Placed"}, {}, ChangeKind::upsert, key, all},
      {{"Changed"}, {}, ChangeKind::update, key, all},
      {{"Cancelled"}, {}, ChangeKind::erase, key, {}},
      {{"Counted"}, {}, ChangeKind::increment, key, {{"total", at_path("$.by")}}},
      {{"Greeted"}, {}, ChangeKind::set_if_absent, key, {{"customer", at_path("$.customer")}}}};
  return orders;
}

SmallTable::SmallTable(TableDefinition definition, TableHandler handler, const std::string& name)
    : shape_(definition.schema), store_(storage::memory_projection_store()) {
  EXPECT_TRUE(store_->create_family(std::string(family), {}));
  auto made = TableProjection::make(name, std::move(definition), std::move(handler),
                                    [this](GlobalPosition position) -> Result<RecordedEvent> {
                                      if (damaged != GlobalPosition{0} && position == damaged)
                                        return refuse(ErrorCode::corruption, "its checksum is wrong");
                                      const auto found = journal.find(position.value);
                                      if (found == journal.end()) return refuse(ErrorCode::not_found, "no such event");
                                      return found->second;
                                    });
  EXPECT_TRUE(made) << (made ? "" : made.error().what);
  projection_ = std::move(*made);
}

Result<void> SmallTable::feed(std::vector<RecordedEvent> events) { return feed_at_once({std::move(events)}); }

Result<void> SmallTable::feed_at_once(const std::vector<std::vector<RecordedEvent>>& pages) {
  auto checkpoint = *store_->checkpoint(std::string(family));
  ProjectionRows rows(*store_, std::string(family), checkpoint);
  for (const auto& events : pages) {
    std::vector<const RecordedEvent*> page;
    for (const RecordedEvent& event : events) {
      journal[event.position.value] = event;
      if (projection_->query().matches(event)) page.push_back(&event);
    }
    if (auto done = projection_->handle(page, rows); !done) {
      projection_->forget();
      return done;
    }
    rows.rest();
    if (!events.empty()) checkpoint.position = events.back().position;
  }
  checkpoint.state = rows.state();
  storage::ProjectionBatch batch;
  auto changes = rows.take();
  changes.checkpoint = checkpoint;
  batch.families.emplace(family, std::move(changes));
  return store_->write(batch);
}

Result<TablePage> SmallTable::try_select(const TableSelect& select) {
  const auto prepared = PreparedSelect::make(shape_, select);
  if (!prepared) return refuse(prepared.error());
  return prepared->page(**store_->view(std::string(family)));
}

TablePage SmallTable::select(TableSelect select) {
  auto page = try_select(select);
  EXPECT_TRUE(page) << (page ? "" : page.error().what);
  return page ? *page : TablePage{};
}

std::string SmallTable::plan(const TableSelect& select) {
  const auto prepared = PreparedSelect::make(shape_, select);
  return prepared ? prepared->plan().text() : prepared.error().what;
}

std::map<std::string, std::string> SmallTable::raw() {
  std::map<std::string, std::string> rows;
  const auto view = *store_->view(std::string(family));
  const auto cursor = view->cursor({});
  while (cursor->next()) rows.emplace(cursor->key(), cursor->value());
  EXPECT_FALSE(cursor->error());
  return rows;
}

std::vector<ParkedEvent> SmallTable::parked() {
  std::vector<ParkedEvent> parked;
  for (const auto& [key, value] : raw()) {
    if (key[0] == static_cast<char>(table_keys::Part::parked)) parked.push_back(decode_parked(key, value).value());
  }
  return parked;
}

TableCounts SmallTable::counts() { return decode_counts(store_->checkpoint(std::string(family))->state).value(); }

void SmallTable::expect_sound() {
  std::map<std::string, std::string> wanted;
  std::map<std::string, std::string> entries;
  std::uint64_t rows = 0;
  for (const auto& [key, value] : raw()) {
    if (key[0] == 'i' || key[0] == 'u') entries.emplace(key, value);
    if (key[0] != 'r') continue;
    ++rows;
    const auto row = shape_.layout.decode(value).value();
    for (std::size_t field = 0; field < row.size(); ++field) {
      const TableField& of = shape_.schema.fields[field];
      if (of.role == FieldRole::index)
        wanted.emplace(table_keys::index_prefix(field, of.type, row[field]) + key.substr(1), "");
      if (of.role == FieldRole::unique && !row[field].is_null()) {
        EXPECT_TRUE(wanted.emplace(table_keys::unique(field, of.type, row[field]), key.substr(1)).second)
            << "two rows have " << row[field].text();
      }
    }
  }
  EXPECT_EQ(entries, wanted);
  EXPECT_EQ(counts().rows, rows);
}

}  // namespace evershard::actors
