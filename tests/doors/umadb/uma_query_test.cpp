// UmaDB's queries as ours.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/doors/umadb/words/uma_query.hpp"

namespace evershard::umadb {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

namespace pb = ::umadb::v1;

void add(pb::Query& query, std::vector<std::string> types, std::vector<std::string> tags) {
  auto& item = *query.add_items();
  for (auto& type : types) item.add_types(std::move(type));
  for (auto& tag : tags) item.add_tags(std::move(tag));
}

TEST(UmaQueries, AskForEverythingWithoutItemsOrWithAnItemThatAsksNothing) {
  pb::Query query;
  EXPECT_TRUE(UmaQuery::of(query).one()->is_all());
  add(query, {"A"}, {"t"});
  EXPECT_FALSE(UmaQuery::of(query).one()->is_all());
  add(query, {}, {});
  EXPECT_TRUE(UmaQuery::of(query).one()->is_all());
}

TEST(UmaQueries, MeanTypesOrAndTagsAnd) {
  pb::Query query;
  add(query, {"B", "A"}, {"t", "u"});
  add(query, {}, {"v"});
  EXPECT_EQ(UmaQuery::of(query).one()->canonical(),
            Query().types({"A", "B"}).tags({"t", "u"}).or_().tags({"v"}).canonical());
}

TEST(UmaQueries, LookInVainForWhatNoEventCanHave) {
  for (const auto& impossible : {std::string(), std::string(256, 'x'), std::string("a\0b", 3)}) {
    pb::Query query;
    add(query, {}, {"t", impossible});
    EXPECT_TRUE(UmaQuery::of(query).is_nothing()) << impossible;
    add(query, {impossible}, {});
    EXPECT_TRUE(UmaQuery::of(query).is_nothing()) << impossible;
    add(query, {impossible, "A"}, {});
    EXPECT_EQ(UmaQuery::of(query).one(), Query().types({"A"})) << impossible;
  }
}

TEST(UmaQueries, AreSeveralOfOursWhereTheyAreLong) {
  pb::Query query;
  for (int i = 0; i < 1'000; ++i) add(query, {}, {"t" + std::to_string(i), "u" + std::to_string(i)});
  const auto made = UmaQuery::of(query);
  EXPECT_THAT(made.parts(), SizeIs(16));
  std::size_t items = 0;
  for (const auto& part : made.parts()) {
    EXPECT_TRUE(part.check());
    items += part.items().size();
  }
  EXPECT_EQ(items, 1'000u);
  EXPECT_EQ(made.one().error().code, ErrorCode::too_large);

  std::vector<AppendCondition> conditions;
  EXPECT_TRUE(made.forbid(GlobalPosition(3), 16, conditions));
  EXPECT_THAT(conditions, SizeIs(16));
  EXPECT_EQ(conditions.back().after, GlobalPosition(3));
  conditions.clear();
  EXPECT_EQ(made.forbid(GlobalPosition(3), 15, conditions).error().code, ErrorCode::too_large);
  EXPECT_THAT(conditions, IsEmpty());
}

TEST(UmaQueries, TakeManyTypes) {
  pb::Query query;
  std::vector<std::string> types;
  for (int i = 0; i < 500; ++i) types.push_back("T" + std::to_string(i));
  add(query, types, {"t"});
  const auto made = UmaQuery::of(query);
  for (const auto& part : made.parts()) EXPECT_TRUE(part.check());
  for (const auto& type : {"T0", "T499"}) {
    const std::vector<Tag> tags{"t"};
    EXPECT_TRUE(std::any_of(made.parts().begin(), made.parts().end(),
                            [&](const Query& part) { return part.matches(type, tags, nullptr, {}); }));
  }
}

}  // namespace
}  // namespace evershard::umadb
