// UmaDB's queries as ours.

#include <gtest/gtest.h>

#include "evershard/compat/umadb/words/uma_query.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard::umadb {
namespace {

namespace pb = ::umadb::v1;

void add(pb::Query& query, std::vector<std::string> types, std::vector<std::string> tags) {
  auto& item = *query.add_items();
  for (auto& type : types) item.add_types(std::move(type));
  for (auto& tag : tags) item.add_tags(std::move(tag));
}

TEST(UmaQueries, AskForEverythingWithoutItemsOrWithAnItemThatAsksNothing) {
  pb::Query query;
  EXPECT_TRUE(query_of(query)->is_all());
  add(query, {"A"}, {"t"});
  EXPECT_FALSE(query_of(query)->is_all());
  add(query, {}, {});
  EXPECT_TRUE(query_of(query)->is_all());
}

TEST(UmaQueries, MeanTypesOrAndTagsAnd) {
  pb::Query query;
  add(query, {"B", "A"}, {"t", "u"});
  add(query, {}, {"v"});
  EXPECT_EQ(query_of(query)->canonical(), Query().types({"A", "B"}).tags({"t", "u"}).or_().tags({"v"}).canonical());
}

TEST(UmaQueries, LookInVainForWhatNoEventCanHave) {
  for (const auto& impossible : {std::string(), std::string(256, 'x'), std::string("a\0b", 3)}) {
    pb::Query query;
    add(query, {}, {"t", impossible});
    EXPECT_FALSE(query_of(query)) << impossible;
    add(query, {impossible}, {});
    EXPECT_FALSE(query_of(query)) << impossible;
    add(query, {impossible, "A"}, {});
    EXPECT_EQ(query_of(query), Query().types({"A"})) << impossible;
  }
}

TEST(UmaQueries, AreCheckedWhereTheyAreLong) {
  for (const std::size_t items : {query_items_max, query_items_max + 1}) {
    pb::Query query;
    for (std::size_t i = 0; i < items; ++i) add(query, {}, {"t" + std::to_string(i), "u" + std::to_string(i)});
    const auto checked = query_of(query)->check();
    ASSERT_EQ(checked.has_value(), items == query_items_max);
    if (checked) continue;
    EXPECT_EQ(checked.error().code, ErrorCode::too_large);
  }
}

}  // namespace
}  // namespace evershard::umadb
