// Random events and mappings against a naive table in memory; pages of any size, and a crash before any of their
// writes.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "tests/services/tables/small_table.hpp"

namespace evershard::actors {
namespace {

using Row = std::vector<TableValue>;
using Random = std::mt19937_64;

/// What a table is, said once more, slowly: rows in a map, every change on a copy.
struct NaiveTable {
  const TableDefinition& definition;
  std::map<std::string, Row> rows{};
  std::set<std::uint64_t> parked{};
  std::uint64_t skipped = 0;
  bool stopped = false;

  static TableValue taken(const ValueSource& source, const RecordedEvent& event, const nlohmann::json& payload) {
    if (source.kind == ValueSource::Kind::aggregate) return event.aggregate->text();
    if (source.kind == ValueSource::Kind::position) return event.position.value;
    if (source.kind == ValueSource::Kind::constant) return nlohmann::json::parse(source.constant).get<std::int64_t>();
    const std::string& name = std::get<std::string>(source.path.steps[0]);
    if (!payload.contains(name) || payload[name].is_null()) return {};
    if (payload[name].is_string()) return payload[name].get<std::string>();
    return payload[name].get<std::int64_t>();
  }

  void consume(const RecordedEvent& event) {
    if (stopped) return;
    auto copy = rows;
    bool unique_fault = false, value_fault = false;
    const auto payload = nlohmann::json::parse(event.payload);
    for (const MappingRule& rule : std::get<std::vector<MappingRule>>(definition.made_by)) {
      if (rule.types[0] != event.type || unique_fault || value_fault) continue;
      const std::string key = *taken(rule.key[0].second, event, payload).as<std::string>();
      const bool there = copy.contains(key);
      for (const auto& [name, source] : rule.fields) {  // what does not fit is at fault also where there is no row
        const TableValue value = taken(source, event, payload);
        value_fault |=
            !value.is_null() && (value.as<std::string>() != nullptr) !=
                                    (definition.schema.fields[*definition.schema.find(name)].type == FieldType::text);
      }
      if (value_fault) continue;
      if (rule.action == ChangeKind::erase) copy.erase(key);
      if (rule.action == ChangeKind::erase || (rule.action == ChangeKind::update && !there)) continue;
      Row row = there ? copy[key] : Row(definition.schema.fields.size());
      row[0] = key;
      for (const auto& [name, source] : rule.fields) {
        const std::size_t field = *definition.schema.find(name);
        const TableValue value = taken(source, event, payload);
        if (rule.action == ChangeKind::set_if_absent && !row[field].is_null()) continue;
        if (rule.action == ChangeKind::increment) {
          if (!value.is_null())
            row[field] = (row[field].is_null() ? 0 : *row[field].as<std::int64_t>()) + *value.as<std::int64_t>();
        } else {
          row[field] = value;
        }
      }
      for (std::size_t field = 0; field < row.size(); ++field)
        value_fault |= row[field].is_null() && !definition.schema.fields[field].nullable;
      for (const auto& [other, theirs] : copy) {
        for (std::size_t field = 0; field < row.size(); ++field) {
          unique_fault |= definition.schema.fields[field].role == FieldRole::unique && other != key &&
                          !row[field].is_null() && theirs[field] == row[field];
        }
      }
      copy[key] = row;
    }
    if (!unique_fault && !value_fault) {
      rows = std::move(copy);
      return;
    }
    const OnFault policy = value_fault ? definition.on_error : definition.on_violation;
    if (policy == OnFault::fail) stopped = true;
    if (policy == OnFault::skip) ++skipped;
    if (policy == OnFault::park) parked.insert(event.position.value);
  }
};

TableDefinition some_definition(Random& random) {
  TableDefinition made;
  made.schema = {
      "orders",
      {{"k", FieldType::text, FieldRole::key},
       {"a", FieldType::text, random() % 2 == 0 ? FieldRole::index : FieldRole::unique, true},
       {"b", FieldType::integer, static_cast<FieldRole>(random() % 2 == 0 ? 0 : 2 + random() % 2), random() % 4 != 0},
       {"c", FieldType::integer, FieldRole::index, true}}};
  made.on_violation = static_cast<OnFault>(random() % 3);
  made.on_error = random() % 2 == 0 ? OnFault::fail : OnFault::park;
  if (random() % 3 != 0) made.on_violation = made.on_error = OnFault::park;
  std::vector<MappingRule> rules;
  for (auto n = 2 + random() % 5; n != 0; --n) {
    MappingRule rule;
    rule.types = {"T" + std::to_string(random() % 3)};
    rule.action = static_cast<ChangeKind>(random() % 5);
    rule.key = {{"k", random() % 3 == 0 ? at_path("$.x") : said(ValueSource::Kind::aggregate)}};
    if (rule.action != ChangeKind::erase) {
      if (rule.action != ChangeKind::increment && random() % 2 == 0)
        rule.fields.emplace_back("a", at_path(random() % 8 == 0 ? "$.y" : "$.x"));
      if (random() % 2 == 0) rule.fields.emplace_back("b", random() % 2 == 0 ? at_path("$.y") : constant("7"));
      if (random() % 2 == 0 || rule.fields.empty())
        rule.fields.emplace_back("c", random() % 2 == 0 ? at_path("$.y") : said(ValueSource::Kind::position));
    }
    rules.push_back(std::move(rule));
  }
  made.made_by = rules;
  return made;
}

RecordedEvent some_event(Random& random, std::uint64_t position) {
  nlohmann::json payload{{"x", "x" + std::to_string(random() % 4)}};
  if (random() % 5 != 0) payload["y"] = static_cast<int>(random() % 5) - 2;
  return happened("T" + std::to_string(random() % 3), "k-" + std::to_string(random() % 5), payload.dump(), {},
                  position);
}

void play(std::uint64_t seed) {
  Random random(seed);
  const TableDefinition definition = some_definition(random);
  ASSERT_TRUE(definition.check()) << definition.check().error().what;
  SmallTable table(definition);
  NaiveTable model{definition};
  std::vector<RecordedEvent> journal;
  for (std::uint64_t position = 1; position <= 60; ++position) journal.push_back(some_event(random, position));

  for (std::size_t next = 0; next < journal.size();) {
    const std::size_t count = std::min<std::size_t>(1 + random() % 7, journal.size() - next);
    const std::vector<RecordedEvent> page(journal.begin() + static_cast<std::ptrdiff_t>(next),
                                          journal.begin() + static_cast<std::ptrdiff_t>(next + count));
    NaiveTable after = model;
    for (const auto& event : page) after.consume(event);
    if (after.stopped) {
      const auto before = table.raw();
      EXPECT_FALSE(table.feed(page));
      EXPECT_EQ(table.raw(), before);
      // The engine gives them again one by one, up to the one that it is about.
      for (const auto& event : page) {
        model.consume(event);
        if (model.stopped) {
          EXPECT_FALSE(table.feed({event}));
          break;
        }
        ASSERT_TRUE(table.feed({event}));
      }
      break;
    }
    if (random() % 4 == 0) {
      SmallTable crashed(definition);  // everything is begun again: what was not written did not happen
      for (std::size_t i = 0; i < next; ++i) ASSERT_TRUE(crashed.feed({journal[i]}));
      EXPECT_EQ(crashed.raw(), table.raw());
      // Some of it written, the rest gathered over many pages: not a row, index or unique entry more or less.
      SmallTable gathered(definition);
      const std::size_t written = next == 0 ? 0 : random() % next;
      for (std::size_t i = 0; i < written; ++i) ASSERT_TRUE(gathered.feed({journal[i]}));
      std::vector<std::vector<RecordedEvent>> pages(1);
      for (std::size_t i = written; i < next; ++i) {
        if (random() % 3 == 0) pages.emplace_back();
        pages.back().push_back(journal[i]);
      }
      ASSERT_TRUE(gathered.feed_at_once(pages));
      EXPECT_EQ(gathered.raw(), table.raw());
    }
    const auto done = table.feed(page);
    ASSERT_TRUE(done) << done.error().what;
    model.rows = after.rows;
    model.parked = after.parked;
    model.skipped = after.skipped;
    next += count;
  }

  std::vector<Row> expected;
  for (const auto& [key, row] : model.rows) expected.push_back(row);
  ASSERT_EQ(table.select().rows, expected);
  std::set<std::uint64_t> parked;
  for (const auto& each : table.parked()) parked.insert(each.position.value);
  EXPECT_EQ(parked, model.parked);
  EXPECT_EQ(table.counts().skipped, model.skipped);
  EXPECT_EQ(table.counts().parked, parked.size());
  table.expect_sound();
}

TEST(TableModel, EveryRowEqualsARecomputation) {
  const char* asked = std::getenv("EVERSHARD_ROUNDS");
  const std::uint64_t rounds = asked == nullptr ? 400 : std::strtoull(asked, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    play(seed);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace evershard::actors
