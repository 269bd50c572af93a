#include "evershard/protocol/validate.hpp"

#include <rapidcheck/gtest.h>

namespace evershard {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using namespace std::string_literals;

const Limits limits;

Event event(std::string value = "1") {
  Event event;
  event.aggregate = AggregateId{"order", std::move(value)};
  event.type = "Placed";
  return event;
}

Append append_of(std::vector<Event> events) {
  Append append;
  append.events = std::move(events);
  return append;
}

Snapshot snapshot_of(std::string value) {
  Snapshot snapshot;
  snapshot.aggregate = {"order", std::move(value)};
  return snapshot;
}

std::vector<Tag> tags(std::size_t count) {
  std::vector<Tag> tags;
  for (std::size_t i = 0; i < count; ++i) tags.push_back("tag:" + std::to_string(i));
  return tags;
}

std::vector<AggregateId> aggregates(std::size_t count) {
  std::vector<AggregateId> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back({"order", std::to_string(i)});
  return ids;
}

template <class T>
void expect_refused(const Result<T>& result, ErrorCode code, const std::string& what) {
  ASSERT_FALSE(result) << "expected: " << what;
  EXPECT_EQ(name_of(result.error().code), name_of(code));
  EXPECT_THAT(result.error().what, HasSubstr(what));
}

// ---- an event

TEST(CheckEvent, AcceptsTheLeastAndTheMost) {
  Event least;
  least.type = "T";
  Event most = event(std::string(512, 'v'));
  most.aggregate->type = std::string(128, 't');
  most.type = std::string(255, 'T');
  most.tags = tags(63);
  most.tags.push_back(std::string(255, 'g'));
  most.also = aggregates(64);
  most.payload = std::string(limits.payload_bytes_max, 'p');
  most.metadata = std::string(limits.metadata_bytes_max, 'm');
  most.occurred_at = Timestamp::last();

  EXPECT_TRUE(check(least, limits));
  EXPECT_TRUE(check(most, limits)) << check(most, limits).error().what;
}

TEST(CheckEvent, RefusesATypeThatIsEmptyLongOrNoText) {
  const auto with = [](std::string type) {
    auto e = event();
    e.type = std::move(type);
    return check(e, limits);
  };

  expect_refused(with(""), ErrorCode::invalid_argument, "event type is empty");
  expect_refused(with(std::string(256, 'T')), ErrorCode::too_large, "has 256 bytes, the limit is 255");
  expect_refused(with("a\0b"s), ErrorCode::invalid_argument, "event type \"a\\x00b\" contains a NUL byte");
  expect_refused(with("\xff"), ErrorCode::invalid_argument, "event type \"\\xff\" is not UTF-8");
}

TEST(CheckEvent, RefusesATagThatIsEmptyLongOrNoText) {
  const auto with = [](std::string tag) {
    auto e = event();
    e.tags = {"fine", std::move(tag)};
    return check(e, limits);
  };

  expect_refused(with(""), ErrorCode::invalid_argument, "tag is empty");
  expect_refused(with(std::string(256, 'g')), ErrorCode::too_large, "has 256 bytes, the limit is 255");
  expect_refused(with("\0"s), ErrorCode::invalid_argument, "NUL");
  expect_refused(with("\xed\xa0\x80"), ErrorCode::invalid_argument, "not UTF-8");
}

TEST(CheckEvent, RefusesMalformedAggregates) {
  auto own = event(), further = event();
  own.aggregate->type = "a-b";
  further.also = {{"order", ""}};

  expect_refused(check(own, limits), ErrorCode::invalid_argument, "contains a '-'");
  expect_refused(check(further, limits), ErrorCode::invalid_argument, "aggregate value is empty");
}

TEST(CheckEvent, CountsTagsAndFurtherAggregatesOnce) {
  auto e = event();
  e.tags = tags(64);
  e.tags.insert(e.tags.end(), 100, "tag:0");
  e.also = aggregates(64);
  e.also.insert(e.also.end(), 100, {"order", "0"});
  EXPECT_TRUE(check(e, limits));

  auto too_many_tags = e, too_many_also = e;
  too_many_tags.tags.push_back("one more");
  too_many_also.also.push_back({"order", "64"});

  expect_refused(check(too_many_tags, limits), ErrorCode::too_large,
                 "the event has 65 different tags, the limit is 64");
  expect_refused(check(too_many_also, limits), ErrorCode::too_large,
                 "the event has 65 different further aggregates, the limit is 64");
}

TEST(CheckEvent, RefusesOneTagAndOneFurtherAggregateTooMany) {
  auto many_tags = event(), many_also = event();
  many_tags.tags = tags(65);
  many_also.also = aggregates(65);

  expect_refused(check(many_tags, limits), ErrorCode::too_large, "65 different tags");
  expect_refused(check(many_also, limits), ErrorCode::too_large, "65 different further aggregates");
}

TEST(CheckEvent, RefusesAPayloadOrMetadataOverTheLimitAsSet) {
  auto payload = event(), metadata = event();
  payload.payload = std::string(limits.payload_bytes_max + 1, 'p');
  metadata.metadata = std::string(limits.metadata_bytes_max + 1, 'm');

  expect_refused(check(payload, limits), ErrorCode::too_large, "the payload has 1048577 bytes, the limit is 1048576");
  expect_refused(check(metadata, limits), ErrorCode::too_large, "the metadata has 65537 bytes, the limit is 65536");
  EXPECT_TRUE(check(payload, Limits::most()));
}

TEST(CheckEvent, TakesAnyBytesAsPayloadAndMetadata) {
  auto e = event();
  e.payload = "\0\xff\n"s;
  e.metadata = "\0\xff\n"s;

  EXPECT_TRUE(check(e, limits));
}

TEST(CheckEvent, RefusesReservedPayloadFormats) {
  for (const std::uint32_t number : {0u, 4u, 1000u, 4'294'967'295u}) {
    auto e = event();
    e.format = PayloadFormat{number};
    EXPECT_TRUE(check(e, limits)) << number;
  }
  for (const std::uint32_t number : {5u, 999u}) {
    auto e = event();
    e.format = PayloadFormat{number};
    expect_refused(check(e, limits), ErrorCode::invalid_argument,
                   "payload format " + std::to_string(number) + " is reserved");
  }
}

TEST(CheckEvent, RefusesATimeWithoutATextForm) {
  auto before = event(), after = event();
  before.occurred_at = Timestamp{Timestamp::first().micros - 1};
  after.occurred_at = Timestamp{Timestamp::last().micros + 1};

  expect_refused(check(before, limits), ErrorCode::invalid_argument, "occurred_at -62135596800000001 us");
  expect_refused(check(after, limits), ErrorCode::invalid_argument, "occurred_at 253402300800000000 us");
}

// A client that does not know a store's limits checks against the most; with two faults at once, it finds the one that
// the store finds.
TEST(Check, FindsWhatIsWrongAtAnyLimitsBeforeSizes) {
  auto large = event();
  large.aggregate->type = "with-dash";
  large.payload = std::string(limits.payload_bytes_max + 1, 'p');
  auto later = event();
  later.format = PayloadFormat{500};
  auto first = event();
  first.payload = large.payload;
  auto snapshot = snapshot_of("1");
  snapshot.payload = std::string(limits.snapshot_bytes_max + 1, 's');
  snapshot.ttl = std::chrono::seconds(-1);
  auto nameless = append_of({first});
  nameless.command = CommandRecord{{"order", "1"}, "", std::string(limits.reply_bytes_max + 1, 'r')};

  for (const auto& any : {limits, Limits::most()}) {
    expect_refused(check(large, any), ErrorCode::invalid_argument, "contains a '-'");
    expect_refused(check(snapshot, any), ErrorCode::invalid_argument, "time to live");
    expect_refused(check(append_of({first, later}), any), ErrorCode::invalid_argument, "event 1: payload format 500");
    expect_refused(check(nameless, any), ErrorCode::invalid_argument, "the command's id is empty");
  }
}

TEST(Normalise, SortsTagsAndFurtherAggregatesAndKeepsEachOnce) {
  auto e = event();
  e.tags = {"b", "a", "b", "B"};
  e.also = {{"z", "1"}, {"a", "2"}, {"z", "1"}};

  normalise(e);

  EXPECT_EQ(e.tags, (std::vector<Tag>{"B", "a", "b"}));
  EXPECT_EQ(e.also, (std::vector<AggregateId>{{"a", "2"}, {"z", "1"}}));
}

// ---- an append

TEST(CheckAppend, AcceptsWhatIsWhole) {
  Append append = append_of({event("1"), event("2"), event("1")});
  append.request_id = RequestId::random();
  append.expect("order-1", Version::none()).expect("order-2", Version::exactly(4)).expect("stock-7", Version::exists());
  append.fail_if(Query{}.tags({"x"})).fail_if(Query::all(), GlobalPosition{3});
  append.snapshot(snapshot_of("2")).snapshot(snapshot_of("1"));
  append.command = CommandRecord{{"order", "1"}, std::string(255, '\0'), "reply"};

  const auto ok = check(append, limits);

  EXPECT_TRUE(ok) << ok.error().what;
}

TEST(CheckAppend, RefusesOneWithoutEvents) {
  expect_refused(check(Append{}, limits), ErrorCode::invalid_argument, "no events");
}

TEST(CheckAppend, HandsOutTheBuildersMistakeAsItIs) {
  const auto append = Append{}.event("order", "Placed", "");

  EXPECT_EQ(check(append, limits).error(), *append.malformed);
}

TEST(CheckAppend, SaysWhichEventIsWrong) {
  auto wrong = event();
  wrong.type.clear();

  expect_refused(check(append_of({event(), event(), wrong}), limits), ErrorCode::invalid_argument,
                 "event 2: event type is empty");
}

TEST(CheckAppend, RefusesMoreEventsThanTheLimit) {
  Limits three;
  three.append_events_max = 3;

  EXPECT_TRUE(check(append_of({3, event()}), three));
  expect_refused(check(append_of({4, event()}), three), ErrorCode::too_large,
                 "the append has 4 events, the limit is 3");
}

TEST(CheckAppend, RefusesMoreBytesThanTheLimit) {
  auto append = append_of({event(), event()});
  append.snapshot(snapshot_of("1")).expect("order-1", Version::any());
  append.snapshots[0].payload = "state";
  append.command = CommandRecord{{"order", "1"}, "id", "reply"};
  Limits exact;
  exact.append_bytes_max = bytes_of(append);
  Limits less;
  less.append_bytes_max = bytes_of(append) - 1;

  EXPECT_EQ(bytes_of(append), 2 * (16u + 6 + 6) + 6 + (6 + 5) + (6 + 2 + 5));
  EXPECT_TRUE(check(append, exact));
  expect_refused(check(append, less), ErrorCode::too_large, "the append has 86 bytes, the limit is 85");
}

TEST(CheckAppend, RefusesAnEventIdTwice) {
  auto a = event("1"), b = event("2"), c = event("3");
  a.id = c.id = EventId::random();
  b.id = EventId::random();

  expect_refused(check(append_of({a, b, c}), limits), ErrorCode::invalid_argument,
                 "event id " + a.id.text() + " more than once");
  EXPECT_TRUE(check(append_of({a, b}), limits));
  EXPECT_TRUE(check(append_of({event(), event()}), limits));  // ids not given are not the same id
}

TEST(CheckAppend, RefusesARequestIdOfZeros) {
  auto append = append_of({event()});
  append.request_id = RequestId{};

  expect_refused(check(append, limits), ErrorCode::invalid_argument, "request id is all zero");
}

TEST(CheckAppend, RefusesTwoExpectationsOfOneAggregate) {
  auto append = append_of({event()});
  append.expect("order-1", Version::any()).expect("order-2", Version::any()).expect("order-1", Version::any());

  expect_refused(check(append, limits), ErrorCode::invalid_argument,
                 "more than one expected version of aggregate \"order-1\"");
}

TEST(CheckAppend, RefusesAMalformedAggregateInAnExpectation) {
  auto append = append_of({event()});
  append.expect(AggregateId{"a-b", "1"}, Version::any());

  expect_refused(check(append, limits), ErrorCode::invalid_argument, "expectation 0: aggregate type \"a-b\"");
}

TEST(CheckAppend, RefusesAnEmptyQueryAsACondition) {
  auto no_items = append_of({event()}), empty_item = append_of({event()});
  no_items.fail_if(Query::all()).fail_if(Query{});
  empty_item.fail_if(Query{}.types({}));

  expect_refused(check(no_items, limits), ErrorCode::invalid_query, "condition 1: the query has no items");
  expect_refused(check(empty_item, limits), ErrorCode::invalid_query, "condition 0: item 0 of the query is empty");
}

TEST(CheckAppend, RefusesMoreConditionsThanTheLimit) {
  auto append = append_of({event()});
  for (int i = 0; i < 16; ++i) append.fail_if(Query::all());
  EXPECT_TRUE(check(append, limits));

  append.fail_if(Query::all());

  expect_refused(check(append, limits), ErrorCode::too_large, "17 conditions, the limit is 16");
}

TEST(CheckAppend, BoundsWhatAllConditionsAskTogether) {
  const auto asking = [](int first, int items, int tags_each) {
    std::vector<QueryItem> made(static_cast<std::size_t>(items));
    for (int i = 0; i < items; ++i)
      for (int t = 0; t < tags_each; ++t)
        made[static_cast<std::size_t>(i)].tags.push_back(std::to_string(first + i) + ":" + std::to_string(t));
    return Query::of(std::move(made));
  };
  auto append = append_of({event()});
  append.fail_if(asking(0, 1'000, 4)).fail_if(asking(1'000, 24, 4));
  EXPECT_TRUE(check(append, limits));
  auto repeating = append_of({event()});
  auto items = asking(0, 1, 1).items();
  items.resize(600, items.front());
  repeating.fail_if(Query::of(items)).fail_if(Query::of(items));
  EXPECT_TRUE(check(repeating, limits)) << "what a query repeats is counted once";

  append.fail_if(asking(2'000, 1, 1));
  expect_refused(check(append, limits), ErrorCode::too_large, "together has 1025 items, the limit is 1024");
  auto terms = append_of({event()});
  terms.fail_if(asking(0, 1, 4'000)).fail_if(asking(1, 1, 97));
  expect_refused(check(terms, limits), ErrorCode::too_large, "together has 4097 terms, the limit is 4096");
}

TEST(CheckAppend, RefusesASnapshotOfAnAggregateItDoesNotWriteTo) {
  auto append = append_of({event("1")});
  append.events[0].also = {{"order", "2"}};  // to concern is not to write to
  append.snapshot(snapshot_of("2"));

  expect_refused(check(append, limits), ErrorCode::invalid_argument, "snapshot 0 is of aggregate \"order-2\"");
}

TEST(CheckAppend, RefusesTwoSnapshotsOfOneAggregate) {
  auto append = append_of({event("1")});
  append.snapshot(snapshot_of("1")).snapshot(snapshot_of("1"));

  expect_refused(check(append, limits), ErrorCode::invalid_argument, "more than one snapshot of aggregate \"order-1\"");
}

TEST(CheckAppend, RefusesACommandWithoutIdOverLimitsOrOfAnotherAggregate) {
  const auto with = [](CommandRecord command) {
    auto append = append_of({event("1")});
    append.command = std::move(command);
    return check(append, limits);
  };

  expect_refused(with({{"order", "1"}, "", ""}), ErrorCode::invalid_argument, "command's id is empty");
  expect_refused(with({{"order", "1"}, std::string(256, 'c'), ""}), ErrorCode::too_large,
                 "has 256 bytes, the limit is 255");
  expect_refused(with({{"order", "1"}, "c", std::string(65'537, 'r')}), ErrorCode::too_large,
                 "has 65537 bytes, the limit is 65536");
  expect_refused(with({{"order", "2"}, "c", ""}), ErrorCode::invalid_argument, "of aggregate \"order-2\"");
  expect_refused(with({{"", "2"}, "c", ""}), ErrorCode::invalid_argument, "aggregate type is empty");
}

// ---- a snapshot

TEST(CheckSnapshot, RefusesWhatIsTooLargeMalformedOrNeverLives) {
  auto large = snapshot_of("1"), malformed = snapshot_of(""), reserved = snapshot_of("1"), dead = snapshot_of("1"),
       eternal = snapshot_of("1");
  large.payload = std::string(limits.snapshot_bytes_max + 1, 's');
  reserved.format = PayloadFormat{7};
  dead.ttl = std::chrono::seconds(0);
  eternal.ttl = std::chrono::seconds::max();

  expect_refused(check(large, limits), ErrorCode::too_large, "the snapshot has 2097153 bytes, the limit is 2097152");
  expect_refused(check(malformed, limits), ErrorCode::invalid_argument, "aggregate value is empty");
  expect_refused(check(reserved, limits), ErrorCode::invalid_argument, "payload format 7");
  expect_refused(check(dead, limits), ErrorCode::invalid_argument, "time to live is 0 s");
  expect_refused(check(eternal, limits), ErrorCode::invalid_argument, "time to live is 9223372036854775807 s");
}

// ---- limits

TEST(CheckLimits, AcceptsTheDefaultsAndTheMost) {
  EXPECT_TRUE(check(Limits{}));
  EXPECT_TRUE(check(Limits::most()));
}

TEST(CheckLimits, RefusesEachAtZero) {
  for (const auto member :
       {&Limits::payload_bytes_max, &Limits::metadata_bytes_max, &Limits::snapshot_bytes_max, &Limits::reply_bytes_max,
        &Limits::append_events_max, &Limits::append_bytes_max, &Limits::page_events_max, &Limits::page_bytes_max,
        &Limits::shard_queue_appends_max, &Limits::shard_queue_bytes_max}) {
    Limits none;
    none.*member = 0;
    expect_refused(check(none), ErrorCode::invalid_argument, "is 0");
  }
}

TEST(CheckLimits, RefusesEachThatHasAMostBeyondIt) {
  for (const auto member : {&Limits::payload_bytes_max, &Limits::metadata_bytes_max, &Limits::snapshot_bytes_max,
                            &Limits::reply_bytes_max, &Limits::append_events_max, &Limits::append_bytes_max}) {
    Limits beyond;
    beyond.*member = Limits::most().*member + 1;
    expect_refused(check(beyond), ErrorCode::invalid_argument, "the most is " + std::to_string(Limits::most().*member));
  }
}

TEST(CheckLimits, LetsPagesAndQueuesBeAnySize) {
  Limits large;
  large.page_events_max = large.page_bytes_max = large.shard_queue_appends_max = large.shard_queue_bytes_max =
      std::size_t{1} << 40;

  EXPECT_TRUE(check(large));
}

}  // namespace
}  // namespace evershard
