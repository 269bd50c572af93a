// Selecting: the plan, order, paging; random selects against sorting everything by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/services/tables/small_table.hpp"

namespace evershard::actors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Row = std::vector<TableValue>;

std::string order_json(const std::string& customer, int total, const std::string& mail = {}) {
  std::string json = R"({"total":)" + std::to_string(total);
  if (!customer.empty()) json += R"(,"customer":")" + customer + '"';
  if (!mail.empty()) json += R"(,"mail":")" + mail + '"';
  return json + '}';
}

TEST(TableSelect, PlansTheNarrowestWay) {
  SmallTable table(orders_by_rules());
  const auto plan = [&](std::string where, std::vector<TableOrder> order = {}) {
    return table.plan({.where = std::move(where), .order_by = std::move(order)});
  };

  EXPECT_EQ(plan("order = 'o'"), "key, filter");
  EXPECT_EQ(plan("total > 3 AND order = 'o' AND mail = 'm'"), "key, filter");
  EXPECT_EQ(plan("mail = 'm' AND customer = 'c'"), "unique mail, filter");
  EXPECT_EQ(plan("customer = 'c' AND total = 1"), "index customer, filter");
  EXPECT_EQ(plan("customer IN ('c')"), "index customer, filter");
  EXPECT_EQ(plan("customer > 'c'"), "index_range customer, filter");
  EXPECT_EQ(plan("customer > 'c'", {{"customer"}}), "index_range customer, filter");
  EXPECT_EQ(plan("customer > 'c'", {{"customer", true}}), "index_range customer backwards, filter");
  EXPECT_EQ(plan("customer > 'c'", {{"total"}}), "index_range customer, filter, sort");
  EXPECT_EQ(plan("order >= 'o'"), "key_range, filter");
  EXPECT_EQ(plan("order >= 'o'", {{"order", true}}), "key_range backwards, filter");
  EXPECT_EQ(plan("total = 1"), "scan, filter");
  EXPECT_EQ(plan("NOT customer = 'c'"), "scan, filter");
  EXPECT_EQ(plan("customer = 'c' OR total = 1"), "scan, filter");
  EXPECT_EQ(plan("", {{"customer"}}), "index_range customer");
  EXPECT_EQ(plan("", {{"mail"}}), "scan, sort");
  EXPECT_EQ(plan("total = 1", {{"customer"}}), "scan, filter, sort");
  EXPECT_EQ(plan("customer = 'c'", {{"order", true}}), "index customer backwards, filter");
}

TEST(TableSelect, RefusesWhatIsWrong) {
  SmallTable table(orders_by_rules());
  const auto fault = [&](const TableSelect& select) { return table.try_select(select).error().what; };

  EXPECT_THAT(fault({.fields = {"nothing"}}), HasSubstr("no field \"nothing\""));
  EXPECT_THAT(fault({.order_by = {{"nothing"}}}), HasSubstr("no field \"nothing\""));
  EXPECT_THAT(fault({.limit = 10'001}), HasSubstr("at most 10000 rows"));
  EXPECT_THAT(fault({.parameters = {{"a", 1}}}), HasSubstr("no filter"));
  EXPECT_THAT(fault({.continue_from = "zz"}), HasSubstr("not where a page of this select ended"));
  EXPECT_TRUE(table.select({.limit = 0}).rows.empty());
}

TEST(TableSelect, GoesOnOnlyWithTheSameSelect) {
  SmallTable table(orders_by_rules());
  ASSERT_TRUE(table.feed({happened("Placed", "order-1", order_json("a", 1), {}, 1),
                          happened("Placed", "order-2", order_json("b", 2), {}, 2)}));
  const TablePage first = table.select({.where = "total > 0", .limit = 1});

  ASSERT_FALSE(first.next.empty());
  EXPECT_EQ(table.select({.where = "total > 0", .fields = {"order"}, .continue_from = first.next}).rows,
            std::vector<Row>{{"order-2"}});
  EXPECT_FALSE(table.try_select({.where = "total > 1", .continue_from = first.next}));
  EXPECT_FALSE(table.try_select({.where = "total > 0", .order_by = {{"total"}}, .continue_from = first.next}));
}

TEST(TableSelect, LooksAtNoMoreThanItNeeds) {
  SmallTable table(orders_by_rules());
  std::vector<RecordedEvent> events;
  for (std::uint64_t i = 1; i <= 500; ++i)
    events.push_back(happened("Placed", "order-" + std::to_string(i),
                              order_json("c" + std::to_string(i % 50), 1, "m" + std::to_string(i)), {}, i));
  ASSERT_TRUE(table.feed(events));

  EXPECT_EQ(table.select({.where = "order = 'order-7'"}).looked_at, 1u);
  EXPECT_EQ(table.select({.where = "mail = 'm7'"}).looked_at, 1u);
  EXPECT_EQ(table.select({.where = "customer = 'c7'"}).looked_at, 10u);
  EXPECT_EQ(table.select({.where = "customer > 'c48'"}).looked_at, 60u);  // c49 and c5 to c9
  EXPECT_LE(table.select({.order_by = {{"customer", true}}, .limit = 3}).looked_at, 4u);
  EXPECT_EQ(table.select({.where = "total = 1", .limit = 3}).looked_at, 4u);
}

TEST(TableSelect, NamesARowThatAnEntryHasAndTheTableHasNot) {
  SmallTable table(orders_by_rules());
  ASSERT_TRUE(table.feed({happened("Placed", "order-1", order_json("a", 1), {}, 1)}));
  storage::ProjectionBatch batch;
  for (const auto& [key, value] : table.raw()) {
    if (key[0] == 'r') batch.families["t"].erase(key);
  }
  ASSERT_TRUE(table.store().write(batch));
  EXPECT_EQ(table.try_select({.where = "customer = 'a'"}).error().code, ErrorCode::corruption);
}

/// Null first, numbers and texts as they are.
bool less(const TableValue& a, const TableValue& b) {
  if (a.is_null() || b.is_null()) return a.is_null() && !b.is_null();
  return a.variant() < b.variant();
}

TEST(TableSelect, FindsPageByPageWhatSortingEverythingFinds) {
  SmallTable table(orders_by_rules());
  std::mt19937 random(3);
  std::vector<RecordedEvent> events;
  for (std::uint64_t i = 1; i <= 300; ++i) {
    const std::string customer = random() % 6 == 0 ? "" : "c" + std::to_string(random() % 8);
    events.push_back(happened(
        "Placed", "order-" + std::to_string(random() % 1'000),
        order_json(customer, static_cast<int>(random() % 20) - 10, random() % 2 == 0 ? "m" + std::to_string(i) : ""),
        {}, i));
  }
  ASSERT_TRUE(table.feed(events));
  const std::vector<Row> all = table.select({.limit = 10'000}).rows;
  const std::vector<std::string> filters{"",
                                         "total > 0",
                                         "customer = 'c3'",
                                         "customer >= 'c2' AND customer < 'c6'",
                                         "customer IS NULL",
                                         "order > 'order-5'",
                                         "mail > 'm2' AND total < 5",
                                         "customer = 'c1' AND total > 0",
                                         "customer <= 'c4'",
                                         "customer > 'c4'",
                                         "order <= 'order-5'",
                                         "order >= 'order-3' AND order < 'order-6'",
                                         "order > 'order-2' AND order <= 'order-40' AND order >= 'order-11'",
                                         "total >= -2 AND total <= 3"};
  const std::vector<std::string> names{"order", "customer", "total", "mail"};

  for (int round = 0; round < 600; ++round) {
    TableSelect select{.where = filters[random() % filters.size()]};
    for (auto n = random() % 3; n != 0; --n) select.order_by.push_back({names[random() % 4], random() % 2 == 0});
    // What the filter finds is tested elsewhere: here it is which rows, in which order, on which page.
    std::vector<Row> expected;
    for (const Row& row : all) {
      const std::string bytes = table.shape().layout.encode(row);
      if (select.where.empty() || Filter::bind(*parse_filter(select.where), table.shape().schema, {})
                                      ->finds(RowView(table.shape().layout, bytes))
                                      .value())
        expected.push_back(row);
    }
    if (!select.order_by.empty()) {
      std::sort(expected.begin(), expected.end(), [&](const Row& a, const Row& b) {
        for (const TableOrder& order : select.order_by) {
          const std::size_t field = *table.shape().schema.find(order.field);
          if (less(a[field], b[field])) return !order.descending;
          if (less(b[field], a[field])) return order.descending;
        }
        return less(a[0], b[0]) != select.order_by.back().descending;
      });
    }
    select.limit = 1 + random() % 60;
    std::vector<Row> found;
    for (;;) {
      const TablePage page = table.select(select);
      EXPECT_LE(page.rows.size(), *select.limit);
      found.insert(found.end(), page.rows.begin(), page.rows.end());
      if (page.next.empty()) break;
      ASSERT_FALSE(page.rows.empty());
      select.continue_from = page.next;
    }
    if (select.order_by.empty())
      std::sort(found.begin(), found.end(), [](const Row& a, const Row& b) { return less(a[0], b[0]); });
    ASSERT_EQ(found.size(), expected.size())
        << select.where << " by " << table.plan({.where = select.where, .order_by = select.order_by});
    ASSERT_TRUE(found == expected) << select.where << " by "
                                   << table.plan({.where = select.where, .order_by = select.order_by});
  }
}

}  // namespace
}  // namespace evershard::actors
