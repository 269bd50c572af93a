#include "evershard/services/engine/projection_engine.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "evershard/local/local.hpp"
#include "evershard/services/indexes/index_projection.hpp"
#include "evershard/services/rows/memory_projection_store.hpp"
#include "tests/services/engine/counting_kind.hpp"
#include "tests/services/engine/refusing_rows.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using actors::Definition;
using Counts = std::map<std::string, std::uint64_t>;

/// An engine over a store in memory; definitions come from the test.
class EngineTest : public ::testing::Test {
 protected:
  EngineTest()
      : store_(Local::open({.shards = 4, .projections = {.enabled = false}}).value()),
        rows_(storage::memory_projection_store()) {
    start();
  }
  ~EngineTest() override {
    faults().let_go = true;
    users_->faults->let_go = true;
    slow_->faults->let_go = true;
  }

  void start(EngineOptions options = {.page_events_max = 16}) {
    engine_.reset();
    engine_ = std::make_unique<ProjectionEngine>(
        store_, rows_, ProcessorKinds{{"count", counting_}, {"users", users_}, {"slow", slow_}, {"index", index_}},
        options);
  }
  /// On a disk that refuses; gone with the engine.
  RefusingRows& start_refusing(EngineOptions options = {.page_events_max = 16}) {
    auto refusing = std::make_shared<RefusingRows>();
    rows_ = refusing;
    start(options);
    return *refusing;
  }
  CountingFaults& faults() { return *counting_->faults; }
  std::uint64_t append(const std::string& type, int how_many = 1) {
    std::uint64_t last = 0;
    for (int i = 0; i < how_many; ++i)
      last = store_.append(Append{}.event("a-" + std::to_string(i % 7), type, "{}", {"t:" + type}))
                 .value()
                 .last_position.value;
    return last;
  }
  /// As the catalogue would have it after so many events of it.
  Definition definition(const std::string& name, std::uint64_t last, const std::string& kind = "count",
                        const Query& query = Query::all()) {
    Definition made{.name = name, .kind = kind, .last = SeqNr{last}};
    made.versions.push_back({SeqNr{1}, actors::query_spec(query), SeqNr{1}, false, {}});
    return made;
  }
  Counts read(const std::string& name, std::uint64_t at_least, std::optional<SeqNr> version = {}) {
    const auto opened = engine_->open(name, {GlobalPosition{at_least}, 30s, version});
    EXPECT_TRUE(opened) << opened.error().what;
    return opened ? counted(*opened->rows) : Counts{};
  }
  ProjectionEngine::VersionInfo newest(const std::string& name) { return engine_->describe(name)->versions.back(); }
  static bool soon(const std::function<bool()>& condition) {
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (!condition() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
    return condition();
  }

  const std::shared_ptr<CountingKind> counting_ = std::make_shared<CountingKind>();
  const std::shared_ptr<CountingKind> users_ = std::make_shared<CountingKind>(true);
  const std::shared_ptr<CountingKind> slow_ = std::make_shared<CountingKind>();
  const std::shared_ptr<actors::IndexKind> index_ = std::make_shared<actors::IndexKind>();
  Local store_;
  std::shared_ptr<storage::ProjectionStore> rows_;
  std::unique_ptr<ProjectionEngine> engine_;
};

TEST_F(EngineTest, CatchesUpAndGoesOnLive) {
  const auto before = append("A", 100);
  engine_->apply(definition("all", 1));
  engine_->apply(definition("some", 1, "count", Query{}.types({"B"})));
  EXPECT_EQ(read("all", before), (Counts{{"A", 100}}));
  EXPECT_EQ(read("some", before), Counts{});

  const auto after = append("B", 5);
  append("C", 3);
  EXPECT_EQ(read("some", after), (Counts{{"B", 5}}));
  EXPECT_EQ(read("all", after + 3), (Counts{{"A", 100}, {"B", 5}, {"C", 3}}));
}

TEST_F(EngineTest, ItsPositionMovesAlsoWhereNothingMatches) {
  engine_->apply(definition("some", 1, "count", Query{}.types({"B"})));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(read("some", append("A")), Counts{});
  EXPECT_EQ(engine_->open("some", {GlobalPosition{1'000}, 50ms, {}}).error().code, ErrorCode::timeout);
}

// Where a home has moved: no rows, or a few of them, are no answer.
TEST_F(EngineTest, RowsThatAreMadeAnewOnANodeAreNotReadForAll) {
  EngineOptions options{.page_events_max = 16};
  options.reads_whole_only = true;
  options.whole_wait_max = 20ms;
  options.gathered_bytes_max = 0;
  start(options);
  append("A", 40);
  users_->faults->hang_at = 30;
  engine_->apply(definition("all", 1, "users"));
  const auto refused = engine_->open("all", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(engine_->open("all", {.at_least = GlobalPosition{10}})) << "who asked for it knows what he gets";

  users_->faults->let_go = true;
  EXPECT_TRUE(soon([&] { return newest("all").complete; }));
  const auto opened = engine_->open("all", {});
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_EQ(counted(*opened->rows), (Counts{{"A", 40}}));
}

TEST_F(EngineTest, GoesOnWhereItWasAfterARestart) {
  engine_->apply(definition("all", 1));
  const auto last = append("A", 50);
  EXPECT_EQ(read("all", last), (Counts{{"A", 50}}));
  engine_->stop();
  const auto more = append("B", 50);
  start();
  engine_->apply(definition("all", 1));
  EXPECT_EQ(read("all", more), (Counts{{"A", 50}, {"B", 50}}));
  EXPECT_EQ(newest("all").events, 50u) << "events were given again, or not at all";
}

// A crash came between the drop and that of the rows: another one of that name had their positions among its numbers.
TEST_F(EngineTest, RowsOfADroppedIndexThatACrashLeftAreNotCarriedOver) {
  const auto index = [&](std::uint64_t version, const std::string& type) {
    Definition made{.name = "i", .kind = "index", .last = SeqNr{version}};
    const auto spec = actors::IndexKind::spec_of(Query{}.types({type}));
    made.versions.push_back({SeqNr{version}, spec, SeqNr{version}, false, {}});
    return made;
  };
  const auto numbered = [&](std::uint64_t at_least) {
    const auto opened = engine_->open("i", {GlobalPosition{at_least}, 30s, {}});
    EXPECT_TRUE(opened) << opened.error().what;
    return opened ? actors::read_numbers(*opened->rows, {}, 100, Direction::forwards)->found.size() : 0;
  };
  const auto last = append("A", 20);
  engine_->apply(index(1, "A"));
  EXPECT_EQ(numbered(last), 20u);
  engine_->stop();
  const auto more = append("B", 3);
  start();
  engine_->apply(index(3, "B"));
  EXPECT_EQ(numbered(more), 3u);
}

TEST_F(EngineTest, OneThatRefusesStandsAtThatEventTheOthersGoOn) {
  append("A", 20);
  faults().refuse_at = 37;
  engine_->apply(definition("bad", 1, "count", Query{}.types({"A"})));
  engine_->apply(definition("good", 1, "count", Query{}.types({"B"})));
  append("A", 30);
  const auto last = append("B", 10);
  EXPECT_EQ(read("good", last), (Counts{{"B", 10}}));

  const auto stands = engine_->open("bad", {GlobalPosition{last}, 30s, {}});
  ASSERT_FALSE(stands);
  EXPECT_EQ(stands.error().code, ErrorCode::unavailable);
  EXPECT_NE(stands.error().what.find("not this one"), std::string::npos) << stands.error().what;
  const auto info = newest("bad");
  EXPECT_EQ(info.state, RunState::failed);
  EXPECT_EQ(info.failed_at, GlobalPosition{37});
  EXPECT_EQ(info.position, GlobalPosition{36}) << "what stands before it has its effect";
  EXPECT_EQ(read("bad", 36), (Counts{{"A", 36}}));

  faults().refuse_at = 0;
  auto resumed = definition("bad", 2, "count", Query{}.types({"A"}));
  resumed.noted["Resumed"] = SeqNr{2};
  engine_->apply(resumed);
  EXPECT_EQ(read("bad", last), (Counts{{"A", 50}})) << "an event had its effect twice, or not at all";
}

TEST_F(EngineTest, OneThatRefusesHasReachedTheEventBeforeAlsoWhereNothingMatchedIt) {
  append("A", 1);
  append("B", 2);
  append("A", 2);
  faults().refuse_at = 4;
  engine_->apply(definition("bad", 1, "count", Query{}.types({"A"})));
  ASSERT_TRUE(soon([&] { return newest("bad").state == RunState::failed; }));
  EXPECT_EQ(newest("bad").failed_at, GlobalPosition{4});
  EXPECT_EQ(newest("bad").position, GlobalPosition{3});
  EXPECT_EQ(read("bad", 3), (Counts{{"A", 1}}));
  engine_->stop();
  start();
  faults().refuse_at = 0;
  engine_->apply(definition("bad", 1, "count", Query{}.types({"A"})));
  EXPECT_EQ(read("bad", 5), (Counts{{"A", 3}}));
}

TEST_F(EngineTest, OneThatThrowsWhileLiveStandsTheOthersGoOn) {
  engine_->apply(definition("bad", 1));
  engine_->apply(definition("good", 1, "count", Query{}.types({"B"})));
  read("bad", append("A", 5));
  faults().throw_at = 7;
  append("A", 5);
  const auto last = append("B", 5);
  EXPECT_EQ(read("good", last), (Counts{{"B", 5}}));
  ASSERT_TRUE(soon([&] { return newest("bad").state == RunState::failed; }));
  EXPECT_EQ(newest("bad").failed_at, GlobalPosition{7});
  EXPECT_NE(newest("bad").error->what.find("thrown"), std::string::npos);
}

TEST_F(EngineTest, OneThatHangsIsSeenAndHoldsNobodyUp) {
  users_->faults->hang_at = 3;
  engine_->apply(definition("hangs", 1, "users"));
  engine_->apply(definition("good", 1));
  const auto last = append("A", 10);
  EXPECT_EQ(read("good", last), (Counts{{"A", 10}}));
  ASSERT_TRUE(soon([&] { return newest("hangs").busy.value_or(0ms) > 5ms; }));
  EXPECT_LT(newest("hangs").position, GlobalPosition{10});
  users_->faults->let_go = true;
  EXPECT_EQ(read("hangs", last), (Counts{{"A", 10}}));
}

TEST_F(EngineTest, PausesAndResumes) {
  for (const std::string kind : {"count", "users"}) {
    engine_->apply(definition(kind, 1, kind));
    const auto before = engine_->describe(kind)->versions.size();
    ASSERT_EQ(before, 1u);
    const auto first = append("A", 3);
    read(kind, first);
    const auto counted_before = read(kind, first);
    auto paused = definition(kind, 2, kind);
    paused.paused = true;
    engine_->apply(paused);
    ASSERT_TRUE(soon([&] { return newest(kind).state == RunState::paused; }));
    const auto last = append("A", 3);
    EXPECT_EQ(engine_->open(kind, {GlobalPosition{last}, 30s, {}}).error().code, ErrorCode::unavailable);
    EXPECT_EQ(read(kind, first), counted_before);
    engine_->apply(definition(kind, 3, kind));
    EXPECT_EQ(read(kind, last).at("A"), counted_before.at("A") + 3);
  }
}

TEST_F(EngineTest, RebuildsBesideWhatIsReadAndSwaps) {
  const auto last = append("A", 40);
  engine_->apply(definition("all", 1));
  EXPECT_EQ(read("all", last), (Counts{{"A", 40}}));

  faults().hang_at = 20;  // the new rows do not get further
  auto rebuilt = definition("all", 2);
  rebuilt.versions.back().rows = SeqNr{2};
  rebuilt.versions.back().beside = true;
  engine_->apply(rebuilt);
  ASSERT_TRUE(soon([&] { return engine_->describe("all")->versions.size() == 2 && newest("all").busy; }));
  EXPECT_EQ(read("all", last), (Counts{{"A", 40}}));
  EXPECT_EQ(rows_->families().size(), 2u);

  faults().let_go = true;
  ASSERT_TRUE(soon([&] { return rows_->families().size() == 1; }));
  EXPECT_EQ(rows_->families().front(), "all@1.2");
  EXPECT_EQ(read("all", last), (Counts{{"A", 40}}));
}

TEST_F(EngineTest, ARebuildUnderWayGoesOnAfterARestartWhileOldRowsAreRead) {
  const auto last = append("A", 40);
  engine_->apply(definition("all", 1));
  read("all", last);
  faults().refuse_at = 20;
  auto rebuilt = definition("all", 2);
  rebuilt.versions.back().rows = SeqNr{2};
  rebuilt.versions.back().beside = true;
  engine_->apply(rebuilt);
  ASSERT_TRUE(soon([&] { return newest("all").state == RunState::failed; }));
  engine_->stop();
  start();
  engine_->apply(rebuilt);
  EXPECT_EQ(read("all", last), (Counts{{"A", 40}})) << "the old rows are gone, the new ones are not there";
  EXPECT_EQ(engine_->describe("all")->versions.size(), 2u);
}

TEST_F(EngineTest, AResetClearsAtOnce) {
  const auto last = append("A", 40);
  engine_->apply(definition("all", 1));
  read("all", last);
  auto reset = definition("all", 2);
  reset.versions.back().rows = SeqNr{2};
  engine_->apply(reset);
  EXPECT_EQ(rows_->families(), std::vector<std::string>{"all@1.2"});
  EXPECT_EQ(read("all", last), (Counts{{"A", 40}}));
}

TEST_F(EngineTest, AChangedOneIsBuiltBesideAndTheOldVersionIsReadByItsNumber) {
  const auto last = append("A", 10);
  append("B", 10);
  engine_->apply(definition("some", 1, "count", Query{}.types({"A"})));
  read("some", last);
  auto changed = definition("some", 2, "count", Query{}.types({"A"}));
  changed.versions.push_back({SeqNr{2}, actors::query_spec(Query{}.types({"B"})), SeqNr{2}, true, {}});
  engine_->apply(changed);
  ASSERT_TRUE(soon([&] { return rows_->families() == std::vector<std::string>{"some@2.2"}; }));
  EXPECT_EQ(read("some", last + 10), (Counts{{"B", 10}}));
  EXPECT_EQ(engine_->open("some", {{}, 1s, SeqNr{1}}).error().code, ErrorCode::not_found);
  EXPECT_EQ(read("some", last + 10, SeqNr{2}), (Counts{{"B", 10}}));
}

TEST_F(EngineTest, ADroppedOneIsGoneAndItsViewsGoOn) {
  const auto last = append("A", 10);
  engine_->apply(definition("all", 1));
  const auto opened = engine_->open("all", {GlobalPosition{last}, 30s, {}});
  ASSERT_TRUE(opened);
  auto dropped = definition("all", 2);
  dropped.dropped = true;
  engine_->apply(dropped);
  EXPECT_TRUE(rows_->families().empty());
  EXPECT_EQ(engine_->open("all", {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(counted(*opened->rows), (Counts{{"A", 10}}));
  append("A", 10);
  EXPECT_FALSE(engine_->describe("all"));
}

TEST_F(EngineTest, WhatWasAskedBeforeADropAndComesLateMakesNothingAgain) {
  engine_->apply(definition("all", 4));
  auto dropped = definition("all", 6);
  dropped.dropped = true;
  engine_->apply(dropped);
  auto late = definition("all", 5);
  late.paused = true;
  engine_->apply(late);
  EXPECT_FALSE(engine_->describe("all"));
  EXPECT_TRUE(rows_->families().empty());
  engine_->apply(definition("all", 7));
  EXPECT_TRUE(engine_->describe("all")) << "made again";
}

/// Rows of 9 are complete, those of 10 are not; as text 10 stands before 9.
TEST_F(EngineTest, ARebuildBegunAnewGoesOnWithTheRowsThatAreComplete) {
  const auto last = append("A", 40);
  engine_->apply(definition("all", 1));
  read("all", last);
  auto first = definition("all", 9);
  first.versions.back().rows = SeqNr{9};
  engine_->apply(first);
  EXPECT_EQ(read("all", last), (Counts{{"A", 40}}));
  faults().refuse_at = 20;
  for (const std::uint64_t rows : {10, 11}) {
    auto rebuilt = definition("all", rows);
    rebuilt.versions.back().rows = SeqNr{rows};
    rebuilt.versions.back().beside = true;
    engine_->apply(rebuilt);
    ASSERT_TRUE(soon([&] { return newest("all").state == RunState::failed; }));
    EXPECT_EQ(read("all", last), (Counts{{"A", 40}})) << rows;
  }
  EXPECT_EQ(rows_->families(), (std::vector<std::string>{"all@1.11", "all@1.9"}));
}

TEST_F(EngineTest, WhatCouldNotBeMadeIsTriedAgain) {
  auto& disk = start_refusing();
  disk.creations_to_refuse = 2;
  engine_->apply(definition("all", 1));
  EXPECT_EQ(newest("all").state, RunState::waiting);
  const auto last = append("A", 5);
  ASSERT_TRUE(soon([&] { return newest("all").state != RunState::waiting; }));
  EXPECT_EQ(read("all", last), (Counts{{"A", 5}}));
}

TEST_F(EngineTest, WhatWaitsIsTriedAgainWhileOthersAreBuilt) {
  auto& disk = start_refusing({.page_events_max = 16, .building_at_once = 1, .turn = 50ms});
  disk.writes_of = "live@1.1";
  engine_->apply(definition("live", 1));
  const auto last = append("A", 8'000);
  read("live", last);
  slow_->faults->slow_ms = 50;  // 25 s in all
  engine_->apply(definition("slow", 1, "slow"));
  ASSERT_TRUE(soon([&] { return newest("slow").position.value > 0; }));
  disk.writes_to_refuse = 100;
  append("B");
  ASSERT_TRUE(soon([&] { return newest("live").state == RunState::waiting; }));
  disk.writes_to_refuse = 0;
  ASSERT_TRUE(soon([&] { return newest("live").state == RunState::live; }));
  EXPECT_FALSE(newest("slow").complete);
}

TEST_F(EngineTest, ARowThatCannotBeReadJustNowIsNoFaultOfAnEvent) {
  auto& disk = start_refusing();
  engine_->apply(definition("all", 1));
  read("all", append("A", 5));
  disk.views_to_refuse = 3;
  const auto last = append("A", 5);
  ASSERT_TRUE(soon([&] { return disk.views_to_refuse == 0; }));
  EXPECT_NE(newest("all").state, RunState::failed);
  ASSERT_TRUE(soon([&] { return newest("all").position.value >= last; }));
  EXPECT_EQ(read("all", last), (Counts{{"A", 10}}));
}

TEST_F(EngineTest, RunsOfHandlersThatCameToTheirEndAreGivenBack) {
  const auto last = append("A", 5);
  std::uint64_t resets = 0;
  const auto reset = [&] {
    auto anew = definition("users", ++resets, "users");
    anew.versions.back().rows = SeqNr{resets};
    engine_->apply(anew);
    read("users", last);
  };
  while (resets < 20) reset();
  // Each processor has one. Who was ended a moment ago may still be there: then the next one to begin gives it back.
  EXPECT_TRUE(soon([&] {
    std::this_thread::sleep_for(20ms);
    reset();
    return users_->faults.use_count() < 8;
  })) << users_->faults.use_count();
}

TEST_F(EngineTest, OfAKindNobodyKnowsItWaitsAndSaysWhy) {
  engine_->apply(definition("odd", 1, "no such kind"));
  EXPECT_EQ(newest("odd").state, RunState::waiting);
  EXPECT_EQ(engine_->open("odd", {}).error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace evershard::cluster
