#include "evershard/protocol/query.hpp"

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace evershard {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

RecordedEvent event(std::string type, std::vector<Tag> tags, std::optional<AggregateId> aggregate = {},
                    std::vector<AggregateId> also = {}) {
  RecordedEvent event;
  event.type = std::move(type);
  event.tags = std::move(tags);
  event.aggregate = std::move(aggregate);
  event.also = std::move(also);
  return event;
}

const AggregateId order{"order", "1"}, customer{"customer", "42"};
const RecordedEvent placed = event("Placed", {"customer:42", "day:1"}, order, {customer});

TEST(Query, MatchesAnyOfItsTypes) {
  EXPECT_TRUE(Query{}.types({"Shipped", "Placed"}).matches(placed));
  EXPECT_FALSE(Query{}.types({"Shipped", "Paid"}).matches(placed));
}

TEST(Query, MatchesOnlyWithAllOfItsTags) {
  EXPECT_TRUE(Query{}.tags({"day:1", "customer:42"}).matches(placed));
  EXPECT_FALSE(Query{}.tags({"day:1", "customer:43"}).matches(placed));
}

TEST(Query, MatchesTypesAndTagsTogether) {
  EXPECT_TRUE(Query{}.types({"Placed"}).tags({"day:1"}).matches(placed));
  EXPECT_FALSE(Query{}.types({"Paid"}).tags({"day:1"}).matches(placed));
  EXPECT_FALSE(Query{}.types({"Placed"}).tags({"day:2"}).matches(placed));
}

TEST(Query, MatchesWhereAnyItemDoes) {
  EXPECT_TRUE(Query{}.types({"Paid"}).or_().tags({"day:1"}).matches(placed));
  EXPECT_FALSE(Query{}.types({"Paid"}).or_().tags({"day:2"}).matches(placed));
}

TEST(Query, MatchesTheEventsOwnAggregateAndThoseItConcerns) {
  EXPECT_TRUE(Query{}.concerning({order}).matches(placed));
  EXPECT_TRUE(Query{}.concerning({customer}).matches(placed));
  EXPECT_TRUE(Query{}.concerning({customer, order}).matches(placed));
  EXPECT_FALSE(Query{}.concerning({order, {"order", "2"}}).matches(placed));
  EXPECT_FALSE(Query{}.concerning({order}).matches(event("Placed", {"order-1"})));  // a tag is not an aggregate
}

TEST(Query, DoesNotMatchInAnotherCase) {
  EXPECT_FALSE(Query{}.types({"placed"}).matches(placed));
  EXPECT_FALSE(Query{}.tags({"Customer:42"}).matches(placed));
  EXPECT_FALSE(Query{}.concerning({{"Order", "1"}}).matches(placed));
}

TEST(Query, DoesNotMatchPartsOfStrings) {
  EXPECT_FALSE(Query{}.types({"Place"}).matches(placed));
  EXPECT_FALSE(Query{}.tags({"customer:4"}).matches(placed));
  EXPECT_FALSE(Query{}.tags({"customer:42day:1"}).matches(placed));
  EXPECT_FALSE(Query{}.types({"day:1"}).matches(placed));
}

TEST(Query, ForAllMatchesEverything) {
  EXPECT_TRUE(Query::all().matches(placed));
  EXPECT_TRUE(Query::all().matches(event("", {})));
  EXPECT_TRUE(Query::all().check());
}

TEST(Query, IsInvalidWithoutItems) {
  for (const auto& query : {Query{}, Query::of({})}) {
    const auto ok = query.check();
    ASSERT_FALSE(ok);
    EXPECT_EQ(ok.error().code, ErrorCode::invalid_query);
    EXPECT_FALSE(query.matches(placed));
  }
}

TEST(Query, IsInvalidWithAnEmptyItem) {
  const auto first = Query{}.or_().types({"Placed"}), last = Query{}.types({"Placed"}).or_();
  const auto only = Query{}.tags({}), second = Query::of({{{"Placed"}, {}, {}}, {}, {{"Paid"}, {}, {}}});

  for (const auto& [query, index] :
       {std::pair{first, "item 0"}, {last, "item 1"}, {only, "item 0"}, {second, "item 1"}}) {
    const auto ok = query.check();
    ASSERT_FALSE(ok);
    EXPECT_EQ(ok.error().code, ErrorCode::invalid_query);
    EXPECT_THAT(ok.error().what, HasSubstr(index));
  }
}

TEST(Query, IsInvalidWhereItAsksForAllAndForItems) {
  const auto ok = Query::all().types({"Placed"}).check();

  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().code, ErrorCode::invalid_query);
}

TEST(Query, IsInvalidWithAMalformedString) {
  for (const auto& query : {Query{}.types({""}), Query{}.types({"a\0b"s}), Query{}.types({"\xff"}), Query{}.tags({""}),
                            Query{}.tags({"ok", "a\0b"s}), Query{}.tags({"\xc0\x80"}), Query{}.concerning({{"", "1"}}),
                            Query{}.concerning({{"a-b", "1"}}), Query{}.concerning({{"a", "\xff"}})}) {
    const auto ok = query.check();
    ASSERT_FALSE(ok);
    EXPECT_EQ(ok.error().code, ErrorCode::invalid_query) << ok.error().what;
  }
}

TEST(Query, IsTooLargeWithAStringOverItsLimit) {
  EXPECT_TRUE(Query{}.types({std::string(255, 't')}).tags({std::string(255, 'g')}).check());
  for (const auto& query : {Query{}.types({std::string(256, 't')}), Query{}.tags({std::string(256, 'g')}),
                            Query{}.concerning({{"order", std::string(513, 'v')}})}) {
    const auto ok = query.check();
    ASSERT_FALSE(ok);
    EXPECT_EQ(ok.error().code, ErrorCode::too_large);
  }
}

TEST(Query, TakesAsManyItemsAndTermsAsItsLimits) {
  const auto with = [](int items, int tags_each) {
    std::vector<QueryItem> made(static_cast<std::size_t>(items));
    for (int i = 0; i < items; ++i) {
      for (int t = 0; t < tags_each; ++t)
        made[static_cast<std::size_t>(i)].tags.push_back(std::to_string(i) + ":" + std::to_string(t));
    }
    return Query::of(made);
  };

  EXPECT_TRUE(with(1'024, 4).check());
  EXPECT_EQ(with(1'025, 1).check().error(), Error(ErrorCode::too_large, "the query has 1025 items, the limit is 1024"));
  EXPECT_EQ(with(1, 4'097).check().error(), Error(ErrorCode::too_large, "the query has 4097 terms, the limit is 4096"));
}

TEST(Query, CountsRepetitionsOnce) {
  std::vector<QueryItem> items(100, QueryItem{{"Placed", "Placed"}, {"day:1", "day:1"}, {order, order}});
  const auto query = Query::of(items);

  EXPECT_TRUE(query.check());
  EXPECT_TRUE(query.matches(placed));
  EXPECT_EQ(query.canonical(), Query{}.types({"Placed"}).tags({"day:1"}).concerning({order}));
}

TEST(Query, IsTheSameCanonicallyInAnyOrder) {
  const auto a = Query{}.types({"B", "A"}).tags({"y", "x"}).or_().types({"C"});
  const auto b = Query{}.types({"C", "C"}).or_().types({"A", "B", "A"}).tags({"x", "y"});

  EXPECT_NE(a, b);
  EXPECT_EQ(a.canonical(), b.canonical());
  EXPECT_EQ(Query::all().canonical(), Query::all());
  EXPECT_NE(a.canonical(), Query{}.types({"A", "B", "C"}).tags({"x", "y"}).canonical());
}

TEST(Query, GathersWhatIsSaidOfOneItem) {
  const auto query = Query{}.types({"A"}).types({"B"}).tags({"x"}).tags({"y"});

  ASSERT_EQ(query.items().size(), 1u);
  EXPECT_EQ(query.items()[0], (QueryItem{{"A", "B"}, {"x", "y"}, {}}));
}

// From a small alphabet, so that queries and events meet.
rc::Gen<std::vector<std::string>> words() {
  return rc::gen::resize(4, rc::gen::container<std::vector<std::string>>(
                                rc::gen::elementOf(std::vector<std::string>{"a", "b", "c", "A"})));
}
rc::Gen<std::vector<AggregateId>> aggregates() {
  return rc::gen::resize(2, rc::gen::container<std::vector<AggregateId>>(
                                rc::gen::map(rc::gen::elementOf(std::vector<std::string>{"1", "2"}), [](std::string v) {
                                  return AggregateId{"a", v};
                                })));
}
rc::Gen<QueryItem> item() {
  return rc::gen::build<QueryItem>(rc::gen::set(&QueryItem::types, words()), rc::gen::set(&QueryItem::tags, words()),
                                   rc::gen::set(&QueryItem::concerning, aggregates()));
}
RecordedEvent any_event() {
  const auto own = *rc::gen::elementOf(std::vector<std::string>{"", "1", "2"});
  return event(*rc::gen::elementOf(std::vector<std::string>{"a", "b", "c", "A"}), *words(),
               own.empty() ? std::nullopt : std::optional(AggregateId{"a", own}), *aggregates());
}

RC_GTEST_PROP(Query, MatchesAsSetsSay, ()) {
  const auto items = *rc::gen::resize(3, rc::gen::container<std::vector<QueryItem>>(item()));
  const auto event = any_event();

  const std::set<Tag> tags(event.tags.begin(), event.tags.end());
  std::set<AggregateId> concerned(event.also.begin(), event.also.end());
  if (event.aggregate) concerned.insert(*event.aggregate);
  bool expected = false;
  for (const auto& item : items) {
    const std::set<std::string> types(item.types.begin(), item.types.end());
    const std::set<Tag> asked(item.tags.begin(), item.tags.end());
    const std::set<AggregateId> about(item.concerning.begin(), item.concerning.end());
    expected |= (types.empty() || types.count(event.type)) &&
                std::includes(tags.begin(), tags.end(), asked.begin(), asked.end()) &&
                std::includes(concerned.begin(), concerned.end(), about.begin(), about.end());
  }

  RC_ASSERT(Query::of(items).matches(event) == expected);
}

RC_GTEST_PROP(Query, MatchesTheSameCanonically, ()) {
  const auto query = Query::of(*rc::gen::resize(3, rc::gen::container<std::vector<QueryItem>>(item())));
  const auto event = any_event();

  RC_ASSERT(query.canonical().matches(event) == query.matches(event));
  RC_ASSERT(query.canonical().canonical() == query.canonical());
  RC_ASSERT(query.canonical().check().has_value() == query.check().has_value());
}

}  // namespace
}  // namespace evershard
