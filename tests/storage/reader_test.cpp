// Damage, snapshots and the edges of ranges: what readers say then.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "evershard/storage/journal/snapshot_row.hpp"
#include "tests/storage/indexed_events.hpp"

namespace evershard::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

Event event(std::string aggregate, std::string type, std::vector<Tag> tags = {}) {
  Event made;
  made.id = EventId::random();
  made.aggregate = AggregateId::parse(aggregate).value();
  made.type = std::move(type);
  made.tags = std::move(tags);
  made.occurred_at = Timestamp{1};
  return made;
}

Append append_of(std::vector<Event> events) {
  Append append;
  append.events = std::move(events);
  return append;
}

/// Ten commits of one event each, all of the same tag.
IndexedEvents ten_events() {
  IndexedEvents store(2);
  for (int i = 0; i < 10; ++i) store.commit({append_of({event("order-1", "Placed", {"a:1"})})});
  return store;
}

/// Flips a bit in the record of a position.
void damage(IndexedEvents& store, std::size_t position) {
  const RecordedEvent& event = store.events[position - 1];
  store.rows[Family::journal].at(keys::journal(event.shard, event.offset)).back() ^= 1;
}

std::vector<std::unique_ptr<EventCursor>> every_way(const IndexedEvents& store, const View& view) {
  std::vector<std::unique_ptr<EventCursor>> cursors;
  cursors.push_back(store.reader().open(view, Query::all(), {}));
  cursors.push_back(store.reader().open(view, Query().tags({"a:1"}), {}));
  cursors.push_back(store.reader().open(view, AggregateId{"order", "1"}, {}));
  return cursors;
}

TEST(Reader, NamesShardAndOffsetOfADamagedRecordAfterWhatStandsBeforeIt) {
  IndexedEvents store = ten_events();
  damage(store, 4);

  for (auto& cursor : every_way(store, store.view())) {
    std::vector<RecordedEvent> events;
    ASSERT_TRUE(cursor->next(100, no_limit, events));
    EXPECT_THAT(events, SizeIs(3));
    for (int again = 0; again < 2; ++again) {
      auto failed = cursor->next(100, no_limit, events);
      ASSERT_FALSE(failed);
      EXPECT_EQ(failed.error().code, ErrorCode::corruption);
      EXPECT_EQ(failed.error().details->shard, store.events[3].shard);
      EXPECT_EQ(failed.error().details->offset, store.events[3].offset);
      EXPECT_EQ(failed.error().details->position, GlobalPosition{4}) << "whoever passes over it has to know";
    }
    EXPECT_THAT(events, SizeIs(3));
  }
}

TEST(Reader, GivesOfManyStreamsWhatIsWholeAndOfEachItsError) {
  IndexedEvents store(2);
  for (int i = 0; i < 10; ++i) {
    store.commit({append_of({event("order-1", "Placed")})});
    store.commit({append_of({event("order-2", "Placed")})});
    store.commit({append_of({event("order-3", "Placed")})});
  }
  damage(store, 11);  // the fourth of order-2
  damage(store, 3);   // the first of order-3
  const std::vector<StreamToRead> asked{{AggregateId{"order", "1"}, {}},
                                        {AggregateId{"order", "2"}, {}},
                                        {AggregateId{"order", "3"}, {}},
                                        {AggregateId{"order", "4"}, {}},
                                        {AggregateId{"order", "2"}, {.from = SeqNr{4}}}};
  const auto pages = store.reader().pages(store.view(), asked);

  ASSERT_THAT(pages, SizeIs(5));
  ASSERT_TRUE(pages[0] && pages[1] && pages[3]);
  EXPECT_THAT(pages[0]->events, SizeIs(10));
  EXPECT_TRUE(pages[0]->complete);
  EXPECT_THAT(pages[1]->events, SizeIs(3));
  EXPECT_FALSE(pages[1]->complete);
  EXPECT_THAT(pages[3]->events, IsEmpty());
  EXPECT_TRUE(pages[3]->complete);
  for (const std::size_t failed : {2, 4}) {
    ASSERT_FALSE(pages[failed]);
    EXPECT_EQ(pages[failed].error().code, ErrorCode::corruption);
    EXPECT_EQ(pages[failed].error().details->offset, store.events[failed == 2 ? 2 : 10].offset);
  }
}

TEST(Reader, LeavesLargeStreamsToBeReadAloneWhereManyTakeTooMuch) {
  IndexedEvents store(1);
  for (int i = 0; i < 20; ++i) {
    auto large = event("order-" + std::to_string(i), "Placed");
    large.payload = std::string(2u << 20, 'x');
    store.commit({append_of({std::move(large)})});
  }
  std::vector<StreamToRead> asked;
  for (int i = 0; i < 20; ++i) asked.push_back({AggregateId{"order", std::to_string(i)}, {}});
  std::size_t whole = 0, empty = 0;
  for (const auto& page : store.reader().pages(store.view(), asked)) {
    ASSERT_TRUE(page);
    if (page->complete)
      ++whole;
    else
      empty += page->events.empty() ? 1 : 0;
  }
  EXPECT_GE(whole, 8u);
  EXPECT_GE(empty, 1u);
  EXPECT_EQ(whole + empty, 20u);
}

TEST(Reader, ReadsEverythingButTheDamagedRecord) {
  IndexedEvents store = ten_events();
  damage(store, 4);
  const View view = store.view();

  std::vector<RecordedEvent> events;
  ASSERT_TRUE(
      store.reader().open(view, Query().tags({"a:1"}), {.after = GlobalPosition{4}})->next(100, no_limit, events));
  auto missing = store.reader().event_at(view, GlobalPosition{4});

  EXPECT_THAT(events, SizeIs(6));
  EXPECT_EQ(missing.error().code, ErrorCode::corruption);
  EXPECT_EQ(store.reader().event_at(view, GlobalPosition{5}).value(), store.events[4]);
}

TEST(Reader, NamesARecordThatIsGone) {
  IndexedEvents store = ten_events();
  store.rows[Family::journal].erase(keys::journal(store.events[3].shard, store.events[3].offset));

  for (auto& cursor : every_way(store, store.view())) {
    std::vector<RecordedEvent> events;
    ASSERT_TRUE(cursor->next(100, no_limit, events));
    EXPECT_THAT(events, SizeIs(3));
    auto failed = cursor->next(100, no_limit, events);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::corruption);
    EXPECT_EQ(failed.error().details->offset, store.events[3].offset);
    EXPECT_EQ(failed.error().details->position, GlobalPosition{4});
  }
}

TEST(Reader, FindsTheRecordOfADamagedBlockAmongThoseFetchedTogether) {
  IndexedEvents store = ten_events();
  store.rows.unreadable = keys::journal(store.events[3].shard, store.events[3].offset);
  auto cursor = store.reader().open(store.view(), Query().tags({"a:1"}), {});

  std::vector<RecordedEvent> events;
  ASSERT_TRUE(cursor->next(100, no_limit, events));
  auto failed = cursor->next(100, no_limit, events);

  EXPECT_THAT(events, SizeIs(3));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::corruption);
  EXPECT_EQ(failed.error().details->offset, store.events[3].offset);
}

TEST(Reader, SaysThatAPositionHasNoCut) {
  IndexedEvents store = ten_events();
  store.rows[Family::order].erase(keys::order(GlobalPosition{4}));
  auto cursor = store.reader().open(store.view(), Query::all(), {});

  std::vector<RecordedEvent> events;
  ASSERT_TRUE(cursor->next(100, no_limit, events));
  auto failed = cursor->next(100, no_limit, events);

  EXPECT_THAT(events, SizeIs(3));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::corruption);
}

TEST(Reader, SaysThatAStreamHasAGapInsteadOfEndingThere) {
  IndexedEvents store = ten_events();
  store.begin_tail();
  store.seal();
  store.commit({append_of({event("order-1", "Placed")})});
  store.rows[Family::streams].clear();

  std::vector<RecordedEvent> events;
  auto forwards = store.reader().open(store.view(), AggregateId{"order", "1"}, {})->next(100, no_limit, events);
  EXPECT_THAT(events, IsEmpty());
  auto backwards = store.reader().open(store.view(), AggregateId{"order", "1"}, {.direction = Direction::backwards});
  ASSERT_TRUE(backwards->next(100, no_limit, events));
  auto before = backwards->next(100, no_limit, events);

  EXPECT_THAT(events, SizeIs(1));
  ASSERT_FALSE(forwards);
  ASSERT_FALSE(before);
  EXPECT_EQ(forwards.error().code, ErrorCode::corruption);
  EXPECT_EQ(before.error().code, ErrorCode::corruption);
}

TEST(Reader, LooksAtNoIndexRowAboveItsMark) {
  IndexedEvents store = ten_events();
  store.begin_tail();
  store.seal();
  store.commit({append_of({event("order-1", "Placed", {"a:1"}), event("order-2", "Placed", {"a:1"})})});
  const View view = store.view();
  store.begin_tail();
  MapRows before = store.rows;
  store.seal();

  for (const Family family : {Family::postings, Family::streams, Family::ids}) {
    for (auto& [key, value] : store.rows[family]) {
      if (!before[family].contains(key)) value = "damaged";
    }
  }
  for (const Direction direction : {Direction::forwards, Direction::backwards}) {
    std::vector<RecordedEvent> tagged, streamed;
    ASSERT_TRUE(
        store.reader().open(view, Query().tags({"a:1"}), {.direction = direction})->next(100, no_limit, tagged));
    ASSERT_TRUE(
        store.reader().open(view, AggregateId{"order", "1"}, {.direction = direction})->next(100, no_limit, streamed));
    EXPECT_THAT(tagged, SizeIs(12));
    EXPECT_THAT(streamed, SizeIs(11));
  }
  EXPECT_EQ(store.reader().head(view, {"order", "1"}).value().version, SeqNr{11});
  EXPECT_TRUE(store.reader().find_id(view, store.events.back().id, store.events.back().shard).value());
}

TEST(Reader, ReadsNothingWithLimitNoneAndBeyondTheEnds) {
  IndexedEvents store = ten_events();
  const GlobalPosition last{std::numeric_limits<std::uint64_t>::max()};
  const ReadOptions empty[] = {{.limit = 0},
                               {.after = last},
                               {.before = GlobalPosition{0}},
                               {.before = GlobalPosition{1}},
                               {.up_to = GlobalPosition{0}}};

  for (const ReadOptions& options : empty) {
    for (const Query& query : {Query::all(), Query().tags({"a:1"})}) {
      std::vector<RecordedEvent> events;
      auto cursor = store.reader().open(store.view(), query, options);
      ASSERT_TRUE(cursor->next(100, no_limit, events));
      EXPECT_THAT(events, IsEmpty());
      EXPECT_TRUE(cursor->at_end());
    }
  }
  std::vector<RecordedEvent> events;
  ASSERT_TRUE(store.reader()
                  .open(store.view(), Query().tags({"a:1"}), {.before = last, .up_to = last})
                  ->next(100, no_limit, events));
  EXPECT_EQ(events, store.events);
}

TEST(Reader, GivesOneEventAtLeastHoweverFewBytesAreAsked) {
  IndexedEvents store = ten_events();

  for (auto& cursor : every_way(store, store.view())) {
    std::vector<RecordedEvent> events;
    for (std::size_t n = 1; n <= 10; ++n) {
      ASSERT_TRUE(cursor->next(100, 1, events));
      ASSERT_THAT(events, SizeIs(n));
    }
    EXPECT_EQ(events, store.events);
  }
}

class Snapshots : public testing::Test {
 protected:
  void put(std::optional<std::uint64_t> retained, std::uint64_t version, std::optional<std::uint32_t> keep = {},
           std::optional<std::chrono::seconds> ttl = {}) {
    Snapshot snapshot{.aggregate = aggregate, .version = SeqNr{version}, .payload = "state", .keep = keep, .ttl = ttl};
    std::optional<SeqNr> slot;
    if (retained) slot = SeqNr{*retained};
    store.rows[Family::state][keys::snapshot(aggregate, slot)] =
        encode_snapshot(snapshot, GlobalPosition{version * 10}, Timestamp{0});
  }
  std::vector<std::uint64_t> versions(Timestamp now = {1}) {
    std::vector<std::uint64_t> numbers;
    const auto shown = store.reader().snapshots(aggregate, now);
    for (const RecordedSnapshot& snapshot : shown.value()) numbers.push_back(snapshot.version.value);
    return numbers;
  }

  const AggregateId aggregate{"order", "1"};
  IndexedEvents store{2};
};

TEST_F(Snapshots, AreShownNewestFirstAndNoMoreThanAreKept) {
  put(std::nullopt, 9, 2);
  for (const std::uint64_t version : {3, 5, 7, 9}) put(version, version, 2);

  EXPECT_THAT(versions(), ElementsAre(9, 9, 7));
  EXPECT_EQ(store.reader().snapshot_at(aggregate, SeqNr{8}, Timestamp{1}).value()->version, SeqNr{7});
  EXPECT_EQ(store.reader().snapshot_as_of(aggregate, GlobalPosition{95}, Timestamp{1}).value()->version, SeqNr{9});
  EXPECT_FALSE(store.reader().snapshot_as_of(aggregate, GlobalPosition{69}, Timestamp{1}).value());
  EXPECT_TRUE(store.reader().latest_snapshot(aggregate).value()->latest);
}

TEST_F(Snapshots, StayAsTheyAreWhereNothingIsSaidOfKeeping) {
  put(std::nullopt, 9);
  for (const std::uint64_t version : {3, 5}) put(version, version);

  EXPECT_THAT(versions(), ElementsAre(9, 5, 3));
}

TEST_F(Snapshots, ThatExpiredAreHiddenButForTheLatest) {
  put(std::nullopt, 9, 5, std::chrono::seconds(1));
  put(5, 5, 5, std::chrono::seconds(1));
  put(7, 7, 5, std::chrono::seconds(100));

  EXPECT_THAT(versions(Timestamp{2'000'000}), ElementsAre(9, 7));
}

TEST_F(Snapshots, ThatAreDamagedAreAsIfTheyWereNotThere) {
  put(std::nullopt, 9, 5);
  put(5, 5);
  store.rows[Family::state][keys::snapshot(aggregate, std::nullopt)].back() ^= 1;

  EXPECT_FALSE(store.reader().latest_snapshot(aggregate).value());
  EXPECT_THAT(versions(), ElementsAre(5));
}

TEST_F(Snapshots, OfAnotherAggregateAreNotShown) {
  put(std::nullopt, 9);

  EXPECT_THAT(store.reader().snapshots({"order", "11"}, Timestamp{1}).value(), IsEmpty());
  EXPECT_FALSE(store.reader().latest_snapshot({"order", ""}).value());
}

}  // namespace
}  // namespace evershard::storage
