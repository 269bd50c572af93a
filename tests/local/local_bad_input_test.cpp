// Local: bad input of every kind is a typed error with one sentence, and leaves nothing behind.

#include <functional>

#include "evershard/protocol/utf8.hpp"
#include "tests/local/small_store.hpp"

namespace evershard {
namespace {

using ::testing::HasSubstr;

struct BadEvent {
  const char* name;
  const char* code;
  std::function<void(Event&)> spoil;
};

std::ostream& operator<<(std::ostream& out, const BadEvent& bad) { return out << bad.name; }

const std::string nul("a\0b", 3);
const std::string not_utf8 = "caf\xE9";
const std::string surrogate = "\xED\xA0\x80";

std::vector<BadEvent> bad_events() {
  return {
      {"empty_type", "invalid_argument", [](Event& e) { e.type = ""; }},
      {"long_type", "too_large", [](Event& e) { e.type = std::string(256, 't'); }},
      {"huge_type", "too_large", [](Event& e) { e.type = std::string(10'000'000, 't'); }},
      {"type_with_nul", "invalid_argument", [](Event& e) { e.type = nul; }},
      {"type_not_utf8", "invalid_argument", [](Event& e) { e.type = not_utf8; }},
      {"empty_tag", "invalid_argument",
       [](Event& e) {
         e.tags = {"a", ""};
       }},
      {"long_tag", "too_large", [](Event& e) { e.tags = {std::string(256, 't')}; }},
      {"tag_with_nul", "invalid_argument", [](Event& e) { e.tags = {nul}; }},
      {"tag_not_utf8", "invalid_argument", [](Event& e) { e.tags = {surrogate}; }},
      {"too_many_tags", "too_large",
       [](Event& e) {
         for (int i = 0; i < 65; ++i) e.tags.push_back(std::to_string(i));
       }},
      {"too_many_further_aggregates", "too_large",
       [](Event& e) {
         for (int i = 0; i < 65; ++i) e.also.push_back({"a", std::to_string(i)});
       }},
      {"further_aggregate_without_value", "invalid_argument",
       [](Event& e) {
         e.also = {{"a", ""}};
       }},
      {"aggregate_type_with_hyphen", "invalid_argument",
       [](Event& e) {
         e.aggregate = AggregateId{"a-b", "1"};
       }},
      {"empty_aggregate_type", "invalid_argument",
       [](Event& e) {
         e.aggregate = AggregateId{"", "1"};
       }},
      {"empty_aggregate_value", "invalid_argument",
       [](Event& e) {
         e.aggregate = AggregateId{"a", ""};
       }},
      {"long_aggregate_type", "too_large",
       [](Event& e) {
         e.aggregate = AggregateId{std::string(129, 'a'), "1"};
       }},
      {"long_aggregate_value", "too_large",
       [](Event& e) {
         e.aggregate = AggregateId{"a", std::string(513, '1')};
       }},
      {"aggregate_with_nul", "invalid_argument",
       [](Event& e) {
         e.aggregate = AggregateId{"a", nul};
       }},
      {"aggregate_not_utf8", "invalid_argument",
       [](Event& e) {
         e.aggregate = AggregateId{"a", not_utf8};
       }},
      {"large_payload", "too_large", [](Event& e) { e.payload = std::string((1u << 20) + 1, 'x'); }},
      {"large_metadata", "too_large", [](Event& e) { e.metadata = std::string((64u << 10) + 1, 'x'); }},
      {"time_before_all", "invalid_argument",
       [](Event& e) { e.occurred_at = Timestamp{Timestamp::first().micros - 1}; }},
      {"time_after_all", "invalid_argument", [](Event& e) { e.occurred_at = Timestamp{Timestamp::last().micros + 1}; }},
  };
}

Event good_event() {
  Event event;
  event.aggregate = AggregateId{"order", "1"};
  event.type = "Placed";
  return event;
}

class LocalWithABadEvent : public ::testing::TestWithParam<BadEvent> {};

TEST_P(LocalWithABadEvent, RefusesTheWholeAppendAndStoresNothing) {
  auto store = open_store();
  auto bad = good_event();
  GetParam().spoil(bad);

  const auto refused = store.append(Append{}.event(good_event()).event(bad));

  EXPECT_EQ(code_of(refused), GetParam().code);
  EXPECT_TRUE(is_utf8(refused.error().what)) << refused.error().what;
  EXPECT_EQ(refused.error().what.find('\n'), std::string::npos);
  EXPECT_LT(refused.error().what.size(), 500u);
  EXPECT_EQ(store.head(), GlobalPosition{0});
  EXPECT_EQ(code_of(store.aggregate({"order", "1"})), "not_found");
}

INSTANTIATE_TEST_SUITE_P(Events, LocalWithABadEvent, ::testing::ValuesIn(bad_events()),
                         [](const auto& bad) { return std::string(bad.param.name); });

TEST(LocalBadInput, TakesEverythingUpToItsLimits) {
  auto store = open_store();
  auto event = good_event();
  event.aggregate = AggregateId{std::string(128, 'a'), std::string(512, '-')};
  event.type = std::string(255, 't');
  for (int i = 0; i < 64; ++i) event.tags.push_back(std::string(253, 'g') + std::to_string(10 + i));
  for (int i = 0; i < 64; ++i) event.also.push_back({"b", std::string(510, 'v') + std::to_string(10 + i)});
  event.payload = std::string(1u << 20, '\0');
  event.metadata = std::string(64u << 10, '\xFF');

  const auto done = store.append(Append{}.event(event));

  ASSERT_TRUE(done) << done.error().what;
  const auto read = store.event_at(GlobalPosition{1});
  EXPECT_EQ(read->payload, event.payload);
  EXPECT_EQ(read->metadata, event.metadata);
  EXPECT_EQ(read->aggregate, event.aggregate);
  EXPECT_EQ(positions_of(store.read(Query{}.tags({event.tags[63]}).concerning({event.also[63]}))).size(), 1u);
}

TEST(LocalBadInput, RefusesAppendsThatCannotBe) {
  auto store = open_store();
  Append twice_the_id;
  auto event = good_event();
  event.id = id_of(1);
  twice_the_id.event(event).event(event);
  Append too_many;
  for (int i = 0; i < 10'001; ++i) too_many.event("a-1", "T", "");
  Append too_much;
  for (int i = 0; i < 5; ++i) too_much.event("a-1", "T", std::string(1u << 20, 'x'));
  Append too_many_conditions;
  too_many_conditions.event("a-1", "T", "");
  for (int i = 0; i < 17; ++i) too_many_conditions.fail_if(Query{}.tags({"x"}));

  EXPECT_EQ(code_of(store.append(Append{})), "invalid_argument");
  EXPECT_EQ(code_of(store.append(twice_the_id)), "invalid_argument");
  EXPECT_EQ(code_of(store.append(too_many)), "too_large");
  EXPECT_EQ(code_of(store.append(too_much)), "too_large");
  EXPECT_EQ(code_of(store.append(too_many_conditions)), "too_large");
  EXPECT_EQ(code_of(store.append(
                Append{}.event("a-1", "T", "").expect("a-1", Version::any()).expect("a-1", Version::none()))),
            "invalid_argument");
  EXPECT_EQ(code_of(store.append(Append{}.event("a-1", "T", "").snapshot(snapshot_of("b-1", 0, "")))),
            "invalid_argument");
  EXPECT_EQ(code_of(store.append(Append{}.event("a-1", "T", "").snapshot(snapshot_of("a-1", 7, "")))),
            "version_conflict");
  EXPECT_EQ(code_of(store.append(
                Append{}.event("a-1", "T", "").snapshot(snapshot_of("a-1", 0, std::string((2u << 20) + 1, 'x'))))),
            "too_large");
  EXPECT_EQ(store.head(), GlobalPosition{0});
}

TEST(LocalBadInput, RefusesQueriesThatAskNothing) {
  auto store = open_store();
  append_one(store, "a-1", "T", {"x"});
  std::vector<QueryItem> many(query_items_max + 1, QueryItem{{"T"}, {}, {}});
  for (std::size_t i = 0; i < many.size(); ++i) many[i].types = {"T" + std::to_string(i)};

  EXPECT_EQ(code_of(store.read(Query{})), "invalid_query");
  EXPECT_EQ(code_of(store.read(Query::of({}))), "invalid_query");
  EXPECT_EQ(code_of(store.read(Query::of({QueryItem{}}))), "invalid_query");
  EXPECT_EQ(code_of(store.read(Query{}.types({"T"}).or_())), "invalid_query");
  EXPECT_EQ(code_of(store.read(Query{}.tags({""}))), "invalid_query");
  EXPECT_EQ(code_of(store.read(Query{}.tags({nul}))), "invalid_query");
  EXPECT_EQ(code_of(store.read(Query{}.types({not_utf8}))), "invalid_query");
  EXPECT_EQ(code_of(store.read(Query{}.concerning({{"a-b", "c"}}))), "invalid_query");
  EXPECT_EQ(code_of(store.read(Query{}.tags({std::string(256, 'x')}))), "too_large");
  EXPECT_EQ(code_of(store.read(Query::of(many))), "too_large");
}

TEST(LocalBadInput, RefusesAggregatesThatCannotBe) {
  auto store = open_store();

  EXPECT_EQ(code_of(store.read("nothing")), "invalid_argument");
  EXPECT_EQ(code_of(store.read("")), "invalid_argument");
  EXPECT_EQ(code_of(store.read("-value")), "invalid_argument");
  EXPECT_EQ(code_of(store.read(AggregateId{"a-b", "c"})), "invalid_argument");
  EXPECT_EQ(code_of(store.read(AggregateId{"a", nul})), "invalid_argument");
  EXPECT_EQ(code_of(store.read(AggregateId{std::string(129, 'a'), "c"})), "too_large");
  EXPECT_EQ(code_of(store.aggregate({"", ""})), "invalid_argument");
  EXPECT_EQ(code_of(store.aggregates("a-b", {}, 1)), "invalid_argument");
  EXPECT_EQ(code_of(store.aggregates({}, AggregateId{"", "x"}, 1)), "invalid_argument");
  EXPECT_EQ(code_of(store.snapshot({"a", not_utf8})), "invalid_argument");
  EXPECT_EQ(code_of(store.snapshots({"", "1"})), "invalid_argument");
  EXPECT_EQ(code_of(store.snapshot_as_of({"", "1"}, GlobalPosition{1})), "invalid_argument");
}

TEST(LocalBadInput, RefusesSnapshotsThatCannotBe) {
  auto store = open_store();
  append_one(store, "a-1", "T");

  EXPECT_EQ(code_of(store.put_snapshot(snapshot_of("a-1", 2, ""))), "not_found");
  EXPECT_EQ(code_of(store.put_snapshot(snapshot_of("a-2", 1, ""))), "not_found");
  EXPECT_FALSE(store.put_snapshot(snapshot_of("a-1", 0, "")));
  EXPECT_EQ(code_of(store.put_snapshot(snapshot_of("a-1", 1, std::string((2u << 20) + 1, 'x')))), "too_large");
  EXPECT_FALSE(store.snapshot({"a", "1"})->has_value());
}

TEST(LocalBadInput, QuotesWhatItRefuses) {
  auto store = open_store();

  const auto refused = store.append(Append{}.event("order-1", "T", "", {nul}));

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("a\\x00b"));
}

}  // namespace
}  // namespace evershard
