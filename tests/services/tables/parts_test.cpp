// A table in parts is what it is in one: which rows each part has, what is refused, selects put together from pages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <random>

#include <nlohmann/json.hpp>

#include "evershard/services/indexes/part_name.hpp"
#include "evershard/services/tables/parted_select.hpp"
#include "tests/services/tables/small_table.hpp"

namespace evershard::actors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using PartsRandom = std::mt19937_64;

TEST(TableParts, AreNamedAsNoUserNamesATable) {
  EXPECT_EQ(part_name("orders", 12), "orders~12");
  EXPECT_EQ(parse_part_name("orders~12"), (PartName{"orders", 12}));
  for (const auto* none : {"orders", "orders~", "orders~64", "orders~01", "orders~1x", "orders~-1", "~"})
    EXPECT_FALSE(parse_part_name(none)) << none;
}

// Frozen: rows lie where it said.
TEST(TableParts, KeysFallToTheirPartsForGood) {
  std::vector<std::uint32_t> parts;
  for (const auto* key : {"", "a", "order-1", "order-2", "order-3"}) parts.push_back(part_of_key(key, 64));
  EXPECT_THAT(parts, ElementsAre(2, 31, 54, 28, 12));
  EXPECT_EQ(part_of_key(std::string_view("\x80\x00\x00\x00\x00\x00\x00\x07", 8), 7), 6u);
}

std::string refused_in_parts(const std::function<void(TableDefinition&)>& alter) {
  auto definition = orders_by_rules();
  definition.schema.fields[3].role = FieldRole::normal;
  definition.parts = 4;
  alter(definition);
  const auto checked = definition.check();
  return checked ? "" : checked.error().what;
}

TEST(TableParts, AreRefusedWhereOnePartCannotDecide) {
  EXPECT_EQ(refused_in_parts([](auto&) {}), "");
  EXPECT_THAT(refused_in_parts([](auto& table) { table.parts = 0; }), HasSubstr("parts is 1 to 64"));
  EXPECT_THAT(refused_in_parts([](auto& table) { table.parts = 65; }), HasSubstr("parts is 1 to 64"));
  EXPECT_THAT(refused_in_parts([](auto& table) { table.schema.fields[3].role = FieldRole::unique; }),
              HasSubstr("\"mail\" is unique"));
  EXPECT_THAT(refused_in_parts([](auto& table) {
                table.made_by = HandlerName{"orders", 1, Query{}.types({"Placed"})};
              }),
              HasSubstr("a handler may read and change rows of other parts"));
  EXPECT_THAT(refused_in_parts([](auto& table) {
                auto& rules = std::get<std::vector<MappingRule>>(table.made_by);
                rules.push_back({{"Moved", "Placed"}, {}, ChangeKind::upsert, {{"order", at_path("$.to")}}, {}});
              }),
              HasSubstr("rules 0 and 5 name \"Placed\" with different keys"));
  EXPECT_EQ(refused_in_parts([](auto& table) {
              auto& rules = std::get<std::vector<MappingRule>>(table.made_by);
              rules.push_back({{"Moved"}, {}, ChangeKind::upsert, {{"order", at_path("$.to")}}, {}});
            }),
            "");
}

TableDefinition some_parted(PartsRandom& random) {
  TableDefinition made;
  const bool two_keys = random() % 2 == 0;
  const auto role = [&] { return random() % 2 == 0 ? FieldRole::index : FieldRole::normal; };
  made.schema = {"orders",
                 {{"a", FieldType::text, role(), true},
                  {"k", FieldType::text, FieldRole::key},
                  {"b", FieldType::integer, role(), random() % 4 != 0},
                  {"c", FieldType::number, role(), true}}};
  if (two_keys) made.schema.fields.push_back({"l", FieldType::integer, FieldRole::key});
  made.on_error = OnFault::park;
  std::map<std::string, std::vector<std::pair<std::string, ValueSource>>> keys;
  for (const auto* type : {"T0", "T1", "T2"}) {
    keys[type] = {{"k", random() % 3 == 0 ? at_path("$.x") : said(ValueSource::Kind::aggregate)}};
    if (two_keys) keys[type].emplace_back("l", random() % 2 == 0 ? at_path("$.y") : constant("3"));
  }
  std::vector<MappingRule> rules;
  for (auto n = 2 + random() % 5; n != 0; --n) {
    MappingRule rule;
    rule.types = {"T" + std::to_string(random() % 3)};
    if (random() % 4 == 0) rule.tags = {"t"};
    rule.action = static_cast<ChangeKind>(random() % 5);
    rule.key = keys[rule.types[0]];
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

RecordedEvent some_parted_event(PartsRandom& random, std::uint64_t position) {
  nlohmann::json payload = nlohmann::json::object();
  if (random() % 8 != 0) payload["x"] = "x" + std::to_string(random() % 9);
  if (random() % 5 != 0)
    payload["y"] = random() % 40 == 0 ? nlohmann::json("odd") : nlohmann::json(static_cast<int>(random() % 5) - 2);
  auto event = happened("T" + std::to_string(random() % 3), "k-" + std::to_string(random() % 20),
                        random() % 30 == 0 ? "no JSON" : payload.dump(), {}, position);
  if (random() % 2 == 0) event.tags = {"t"};
  if (random() % 20 == 0) event.state = EventState::erased;
  if (random() % 30 == 0) event.aggregate.reset();
  return event;
}

TableSelect some_parted_select(PartsRandom& random, bool two_keys) {
  static const std::vector<std::string> filters{"",
                                                "",
                                                "a = 'x1'",
                                                "b > 0",
                                                "b IS NULL",
                                                "c < 50 AND NOT b = 2",
                                                "k = 'k-3'",
                                                "k >= 'k-1' AND k < 'k-5'",
                                                "a > 'x2' OR c = 3",
                                                "a IN ('x1', 'x3')",
                                                "b >= -1"};
  TableSelect select;
  select.where = filters[random() % filters.size()];
  if (two_keys && random() % 8 == 0) select.where = "k = 'x1' AND l = 3";
  std::vector<std::string> fields{"a", "b", "c", "k"};
  if (two_keys) fields.emplace_back("l");
  for (auto n = random() % 3; n != 0; --n)
    select.order_by.push_back({fields[random() % fields.size()], random() % 2 == 0});
  for (auto n = random() % 4; n != 0; --n) select.fields.push_back(fields[random() % fields.size()]);
  if (random() % 3 != 0) select.limit = 1 + random() % 7;
  return select;
}

struct PartedTable {
  PartedTable(TableDefinition definition, std::uint32_t parts) : count(parts) {
    definition.parts = parts;
    for (std::uint32_t part = 0; part < parts; ++part)
      tables.push_back(std::make_unique<SmallTable>(definition, TableHandler{}, part_name("orders", part)));
  }
  void feed(const std::vector<RecordedEvent>& events) {
    for (std::uint32_t part = 0; part < count; ++part) {
      auto own = events;
      for (auto& event : own) {
        if (event.type.starts_with('$')) event.aggregate = AggregateId{"$projection", part_name("orders", part)};
      }
      const auto done = tables[part]->feed(own);
      ASSERT_TRUE(done) << done.error().what;
    }
  }
  Result<TablePage> select(const TableSelect& select) {
    const auto parted = PartedSelect::make(tables[0]->shape(), select, count);
    if (!parted) return refuse(parted.error());
    if (const auto only = parted->only()) return tables[*only]->try_select(select);
    std::vector<TablePage> pages;
    for (auto& table : tables) {
      auto page = table->try_select(parted->for_part());
      if (!page) return page;
      pages.push_back(std::move(*page));
    }
    return parted->merge(std::move(pages));
  }

  std::uint32_t count;
  std::vector<std::unique_ptr<SmallTable>> tables;
};

void play_parts(std::uint64_t seed) {
  PartsRandom random(seed);
  const auto definition = some_parted(random);
  SmallTable whole(definition);
  PartedTable parted(definition, static_cast<std::uint32_t>(2 + random() % (seed % 8 == 0 ? 63 : 5)));
  const auto checked = [&] {
    auto in_parts = definition;
    in_parts.parts = parted.count;
    return in_parts.check();
  }();
  ASSERT_TRUE(checked) << checked.error().what;
  for (std::uint64_t position = 1; position <= 120; ++position) {
    std::vector<RecordedEvent> page{some_parted_event(random, position)};
    if (random() % 25 == 0) {
      page = {happened(std::string(random() % 2 == 0 ? parked_retried_type : parked_discarded_type), "", "{}", {},
                       position)};
      if (const auto parked = whole.parked(); !parked.empty() && random() % 2 == 0)
        page[0].payload = R"({"positions":[)" + std::to_string(parked[0].position.value) + "]}";
      page[0].aggregate = AggregateId{"$projection", "orders"};
    }
    ASSERT_TRUE(whole.feed(page));
    parted.feed(page);
  }

  TableCounts sum;
  std::vector<ParkedEvent> parked;
  std::map<std::string, std::string> rows;
  for (auto& table : parted.tables) {
    table->expect_sound();
    const auto counts = table->counts();
    sum = {sum.rows + counts.rows,     sum.events + counts.events,   sum.changes + counts.changes,
           sum.missed + counts.missed, sum.skipped + counts.skipped, sum.parked + counts.parked,
           sum.erased + counts.erased};
    for (const auto& [key, value] : table->raw()) EXPECT_TRUE(rows.emplace(key, value).second) << "two parts have it";
  }
  EXPECT_EQ(rows, whole.raw());
  EXPECT_EQ(sum, whole.counts());

  for (int i = 0; i < 12; ++i) {
    auto select = some_parted_select(random, definition.schema.fields.size() == 5);
    for (int pages = 0;; ++pages) {
      ASSERT_LT(pages, 200) << "a page that does not get on";
      const auto expected = whole.try_select(select);
      const auto found = parted.select(select);
      ASSERT_EQ(static_cast<bool>(expected), static_cast<bool>(found)) << select.where;
      if (!expected) break;
      ASSERT_EQ(found->rows, expected->rows) << select.where;
      EXPECT_EQ(found->fields, expected->fields);
      EXPECT_EQ(found->types, expected->types);
      EXPECT_EQ(found->next, expected->next) << select.where;
      if (expected->next.empty()) break;
      select.continue_from = found->next;
      if (random() % 4 == 0) select.limit = 1 + random() % 5;
    }
  }
}

TEST(TableParts, AreTogetherWhatTheTableIsInOne) {
  const char* asked = std::getenv("EVERSHARD_ROUNDS");
  const std::uint64_t rounds = asked == nullptr ? 300 : std::strtoull(asked, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    play_parts(seed);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace evershard::actors
