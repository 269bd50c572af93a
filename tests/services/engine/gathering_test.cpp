// A projection that catches up gathers the changes of many pages before it writes them: what is written, when, and what
// is left when something goes wrong.

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "evershard/local/local.hpp"
#include "evershard/services/engine/catalogue.hpp"
#include "evershard/services/engine/projection_engine.hpp"
#include "evershard/services/rows/memory_projection_store.hpp"
#include "tests/services/copy/damaged_store.hpp"
#include "tests/services/copy/forwarding_store.hpp"
#include "tests/services/engine/counting_kind.hpp"
#include "tests/services/engine/refusing_rows.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using GatheredCounts = std::map<std::string, std::uint64_t>;

constexpr std::size_t plenty = 1u << 20;

/// One run, its pages given by the test: ten events each, of type "A".
class GatheringRun {
 public:
  explicit GatheringRun(std::size_t bytes_max = plenty) : GatheringRun(std::make_shared<GatheringRoom>(bytes_max)) {}
  explicit GatheringRun(std::shared_ptr<GatheringRoom> room) : room_(std::move(room)) {
    EXPECT_TRUE(rows.create_family("p@1.1", {.definition = 1}));
    EXPECT_TRUE(run.load());
  }
  /// The next page; what is to be written is written. Returns: whether there was something
  bool page(bool caught_up = false) {
    std::vector<RecordedEvent> events(10);
    std::vector<const RecordedEvent*> given;
    for (std::uint64_t i = 0; i < events.size(); ++i) {
      events[i].position = GlobalPosition{run.given().value + i + 1};
      events[i].type = "A";
      given.push_back(&events[i]);
    }
    return write(run.work(given, events.back().position, caught_up));
  }
  bool write(std::optional<storage::ProjectionChanges> changes) {
    if (!changes) return false;
    storage::ProjectionBatch batch;
    batch.families.emplace("p@1.1", *std::move(changes));
    if (auto written = rows.write(batch))
      run.written();
    else
      run.not_written(std::move(written).error());
    const auto checkpoint = *rows.checkpoint("p@1.1");
    EXPECT_EQ(run.processor().figures(checkpoint.state).front().second, checkpoint.position.value)
        << "the state is of other rows";
    return true;
  }
  std::uint64_t counted_in_store() { return counted(**rows.view("p@1.1"))["A"]; }
  std::uint64_t position_in_store() { return rows.checkpoint("p@1.1")->position.value; }

  RefusingRows rows{};
  CountingKind kind{};
  ProgressBoard board{};

 private:
  std::shared_ptr<GatheringRoom> room_;

 public:
  ProjectionRun run{rows,
                    board,
                    *room_,
                    {"p", "count", "", SeqNr{1}, SeqNr{1}},
                    std::make_unique<CountingProcessor>(Query::all(), kind.faults, false)};
};

TEST(Gathering, ManyPagesAreOneWrite) {
  GatheringRun one;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(one.page());
  EXPECT_EQ(one.run.given(), GlobalPosition{50});
  EXPECT_EQ(one.run.position(), GlobalPosition{0}) << "nothing of it is in the rows";
  EXPECT_EQ(one.run.events(), 0u);

  EXPECT_TRUE(one.page(true)) << "who has caught up is read";
  EXPECT_EQ(one.run.position(), GlobalPosition{60});
  EXPECT_EQ(one.run.events(), 60u);
  EXPECT_EQ(one.counted_in_store(), 60u);
  EXPECT_EQ(one.position_in_store(), 60u);
  EXPECT_TRUE(one.rows.checkpoint("p@1.1")->complete);
}

TEST(Gathering, WhoHasCaughtUpWritesEachPage) {
  GatheringRun one;
  EXPECT_TRUE(one.page(true));
  one.run.mark_live();
  EXPECT_TRUE(one.page(true));
  EXPECT_TRUE(one.page(false)) << "it fell behind, and is read nonetheless";
  EXPECT_EQ(one.counted_in_store(), 30u);
}

TEST(Gathering, WithoutRoomEachPageIsWritten) {
  GatheringRun one(0);
  EXPECT_TRUE(one.page());
  EXPECT_TRUE(one.page());
  EXPECT_EQ(one.counted_in_store(), 20u);
}

TEST(Gathering, TheRoomIsOfAllTogetherAndComesBack) {
  const auto room = std::make_shared<GatheringRoom>(200);  // one row and what belongs to it
  GatheringRun first(room), second(room);
  EXPECT_FALSE(first.page());
  EXPECT_TRUE(second.page()) << "there is no room beside the first one's";
  EXPECT_TRUE(first.page(true));
  EXPECT_FALSE(second.page()) << "the first one gave it back";
  { GatheringRun(room).page(); }
  second.run.not_written(Error(ErrorCode::io, "a disk"));
  EXPECT_TRUE(room->change(0, 199)) << "somebody kept room";
}

TEST(Gathering, ItIsWrittenAfterAWhileAlsoWithoutMore) {
  GatheringRun one;
  EXPECT_FALSE(one.page());
  bool written = false;
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       !written && std::chrono::steady_clock::now() < until;) {
    std::this_thread::sleep_for(10ms);
    written = one.write(one.run.work({}, one.run.given(), false));
  }
  EXPECT_TRUE(written);
  EXPECT_EQ(one.position_in_store(), 10u);
}

TEST(Gathering, WhatIsPausedIsWrittenWithWhatWasGathered) {
  GatheringRun one;
  EXPECT_FALSE(one.page());
  EXPECT_FALSE(one.page());
  EXPECT_TRUE(one.write(one.run.unwritten()));
  EXPECT_EQ(one.run.position(), GlobalPosition{20});
  EXPECT_EQ(one.counted_in_store(), 20u);
  EXPECT_FALSE(one.write(one.run.unwritten()));
}

TEST(Gathering, AnEventThatCannotBeHandledBehindGatheredPagesStopsItThereAndNotBefore) {
  GatheringRun one;
  one.kind.faults->refuse_at = 37;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(one.page());
  EXPECT_FALSE(one.page());
  EXPECT_EQ(one.run.given(), GlobalPosition{0}) << "it begins anew at its last write";
  EXPECT_TRUE(one.run.fit());

  ASSERT_TRUE(one.run.load());
  for (std::uint64_t i = 1; i <= 3; ++i) {
    EXPECT_TRUE(one.page()) << "each page by itself, up to the one with that event";
    EXPECT_EQ(one.position_in_store(), 10 * i);
  }
  EXPECT_FALSE(one.page());
  EXPECT_EQ(one.run.status().state, RunState::failed);
  EXPECT_EQ(one.run.status().failed_at, GlobalPosition{37});
  EXPECT_EQ(one.run.position(), GlobalPosition{36});
  EXPECT_EQ(one.counted_in_store(), 36u);

  one.kind.faults->refuse_at = 0;
  one.run.revive();
  ASSERT_TRUE(one.run.load());
  EXPECT_FALSE(one.page()) << "behind that page it gathers again";
  EXPECT_TRUE(one.page(true));
  EXPECT_EQ(one.counted_in_store(), 56u) << "an event had its effect twice, or not at all";
}

TEST(Gathering, ItIsCompleteWhenItsRowsAreThereAndNotBefore) {
  GatheringRun one;
  EXPECT_FALSE(one.page());
  auto changes = one.run.work({}, one.run.given(), true);
  ASSERT_TRUE(changes);
  EXPECT_TRUE(changes->checkpoint->complete);
  EXPECT_FALSE(one.run.complete()) << "readers are sent to rows that are not there";
  EXPECT_TRUE(one.write(std::move(changes)));
  EXPECT_TRUE(one.run.complete());
}

TEST(Gathering, WhatIsNotThereJustNowKeepsOnlyWhatIsBehindIt) {
  GatheringRun one;
  one.kind.faults->unavailable_at = 37;
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(one.page());
  EXPECT_EQ(one.run.status().state, RunState::waiting);
  one.run.revive();
  ASSERT_TRUE(one.run.load());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(one.page());
  EXPECT_FALSE(one.page());
  EXPECT_EQ(one.run.status().state, RunState::waiting);
  EXPECT_EQ(one.position_in_store(), 30u) << "what stands before it is to have its effect";
}

TEST(Gathering, ADiskThatRefusesTheWriteTakesAllOfItBack) {
  GatheringRun one;
  one.rows.writes_of = "p@1.1";
  one.rows.writes_to_refuse = 1;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(one.page());
  EXPECT_TRUE(one.page(true));
  EXPECT_EQ(one.run.status().state, RunState::waiting);
  EXPECT_FALSE(one.run.complete()) << "readers are sent to rows that are not there";
  EXPECT_EQ(one.run.given(), GlobalPosition{0});
  one.run.revive();
  ASSERT_TRUE(one.run.load());
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(one.page());
  EXPECT_TRUE(one.page(true));
  EXPECT_EQ(one.counted_in_store(), 40u);
}

/// Its events cannot be read beyond a position.
class DamagedEvents final : public evershard::testing::ForwardingStore {
 public:
  DamagedEvents(EventStore& to, std::uint64_t last) : ForwardingStore(to), last_(last) {}
  EventFeed follow(Query query, FollowOptions options = {}) override {
    options.page_events_max = 5;
    return EventFeed(std::make_unique<Source>(to_.follow(std::move(query), options), last_));
  }

 private:
  class Source final : public FeedSource {
   public:
    Source(EventFeed feed, std::uint64_t last) : feed_(std::move(feed)), last_(last) {}
    Result<FeedItem> next(std::chrono::milliseconds timeout) override {
      auto item = feed_.next(timeout);
      if (item && item->watermark.value > last_) return refuse(ErrorCode::corruption, "a damaged event");
      return item;
    }
    void cancel() override { feed_.cancel(); }

   private:
    EventFeed feed_;
    const std::uint64_t last_;
  };
  const std::uint64_t last_;
};

TEST(Gathering, WhatStandsBeforeADamagedEventIsInTheRows) {
  auto store = *Local::open({.shards = 4, .projections = {.enabled = false}});
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(store.append(Append{}.event("a-1", "A", "{}")));
  for (const std::string kind : {"count", "users"}) {
    DamagedEvents damaged(store, 50);
    ProjectionEngine engine(
        damaged, storage::memory_projection_store(),
        {{"count", std::make_shared<CountingKind>()}, {"users", std::make_shared<CountingKind>(true)}});
    actors::Definition definition{.name = "p", .kind = kind, .last = SeqNr{1}};
    definition.versions.push_back({SeqNr{1}, actors::query_spec(Query::all()), SeqNr{1}, false, {}});
    engine.apply(definition);

    const auto opened = engine.open("p", {GlobalPosition{50}, 30s, {}});
    ASSERT_TRUE(opened) << kind << ": " << opened.error().what;
    EXPECT_EQ(counted(*opened->rows), (GatheredCounts{{"A", 50}}));
    for (const auto until = std::chrono::steady_clock::now() + 60s;
         engine.describe("p")->versions.back().state != RunState::waiting && std::chrono::steady_clock::now() < until;)
      std::this_thread::sleep_for(1ms);
    EXPECT_EQ(engine.describe("p")->versions.back().state, RunState::waiting);
  }
}

TEST(Gathering, ADamagedEventIsPassedOverSaidAndCounted) {
  auto store = *Local::open({.shards = 4, .projections = {.enabled = false}});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(store.append(Append{}.event("a-1", "A", "{}")));
  evershard::testing::DamagedStore damaged(store, {7, 8, 20});
  for (const std::string kind : {"count", "users"}) {
    std::atomic<int> warned{0};
    ProjectionEngine engine(
        damaged, storage::memory_projection_store(),
        {{"count", std::make_shared<CountingKind>()}, {"users", std::make_shared<CountingKind>(true)}},
        {.page_events_max = 5, .warn = [&](const Error&) { ++warned; }});
    actors::Definition definition{.name = "p", .kind = kind, .last = SeqNr{1}};
    definition.versions.push_back({SeqNr{1}, actors::query_spec(Query::all()), SeqNr{1}, false, {}});
    engine.apply(definition);

    const auto opened = engine.open("p", {GlobalPosition{20}, 30s, {}});
    ASSERT_TRUE(opened) << kind << ": " << opened.error().what;
    EXPECT_EQ(counted(*opened->rows), (GatheredCounts{{"A", 17}}));
    const auto shown = engine.describe("p")->versions.back();
    EXPECT_EQ(shown.errors, 3u);
    EXPECT_EQ(warned, 3);
  }
}

TEST(Catalogue, ADamagedDefinitionHidesNoneBesideIt) {
  auto store = *Local::open({.shards = 4});
  for (const auto* type : {"A", "B", "C"}) ASSERT_TRUE(store.projections().create_index(Query{}.types({type})));
  const auto names = store.projections().list().value();
  ASSERT_EQ(names.size(), 3u);
  const AggregateId second{"$projection", names[1].name};
  evershard::testing::DamagedStore damaged(store, {store.aggregate(second)->last_position.value});
  std::vector<std::string> passed_over;
  Catalogue catalogue(damaged, "projection");
  const auto all = catalogue.list(true, [&](const std::string& name, const Error&) { passed_over.push_back(name); });
  ASSERT_TRUE(all) << all.error().what;
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].name, names[0].name);
  EXPECT_EQ((*all)[1].name, names[2].name);
  EXPECT_EQ(passed_over, std::vector<std::string>{names[1].name});
}

TEST(Gathering, WhatIsClosedOrPausedMeanwhileLosesNothing) {
  auto store = *Local::open({.shards = 4, .projections = {.enabled = false}});
  for (int i = 0; i < 4'000; ++i) ASSERT_TRUE(store.append(Append{}.event("a-1", "A", "{}")));
  const auto counting = std::make_shared<CountingKind>();
  counting->faults->slow_ms = 20;  // a page of five: 16 s in all
  const std::shared_ptr<storage::ProjectionStore> rows = storage::memory_projection_store();
  actors::Definition definition{.name = "p", .kind = "count", .last = SeqNr{1}};
  definition.versions.push_back({SeqNr{1}, actors::query_spec(Query::all()), SeqNr{1}, false, {}});
  const auto busy = [&](ProjectionEngine& engine) {
    const auto enough = counting->faults->handled + 10;
    engine.apply(definition);
    for (const auto until = std::chrono::steady_clock::now() + 60s;
         counting->faults->handled < enough && std::chrono::steady_clock::now() < until;)
      std::this_thread::sleep_for(1ms);
  };
  {
    ProjectionEngine engine(store, rows, {{"count", counting}}, {.page_events_max = 5});
    busy(engine);
  }
  const auto closed_at = rows->checkpoint("p@1.1")->position.value;
  EXPECT_GT(closed_at, 0u) << "what was gathered was not written when it was closed";
  EXPECT_EQ(counted(**rows->view("p@1.1")), (GatheredCounts{{"A", closed_at}}));
  {
    ProjectionEngine engine(store, rows, {{"count", counting}}, {.page_events_max = 5});
    busy(engine);
    ++definition.last;
    definition.paused = true;
    engine.apply(definition);
    for (const auto until = std::chrono::steady_clock::now() + 60s;
         engine.describe("p")->versions.back().state != RunState::paused && std::chrono::steady_clock::now() < until;)
      std::this_thread::sleep_for(1ms);
    const auto paused_at = rows->checkpoint("p@1.1")->position.value;
    EXPECT_GT(paused_at, closed_at) << "what was gathered was not written when it was paused";
    EXPECT_EQ(counted(**rows->view("p@1.1")), (GatheredCounts{{"A", paused_at}}));
  }
}

}  // namespace
}  // namespace evershard::cluster
