// From a snapshot and pages to a state; the state as of any position.

#include "evershard/actors/entity/replay.hpp"

#include <gtest/gtest.h>

#include "tests/actors/entity/one_shard.hpp"

namespace evershard::actors {
namespace {

TEST(Replay, GivesTheStateAsOfAnyPosition) {
  OneShard shard;
  shard.kind->retained.snapshot_every = 4;
  const AggregateId other{"counter", "2"};
  for (int i = 1; i <= 10; ++i) {
    shard.get("add a:1");
    shard.get("add a:100", {.aggregate = other});
  }

  for (std::uint64_t position = 0; position <= 20; ++position) {
    const auto state = state_at(*shard.kind, shard.journal, one, GlobalPosition{position});
    ASSERT_TRUE(state);
    const std::uint64_t events = (position + 1) / 2;
    EXPECT_EQ(state->payload, std::to_string(events) + "/" + std::to_string(events));
    EXPECT_EQ(state->version, SeqNr{events});
    EXPECT_EQ(state->position, GlobalPosition{events == 0 ? 0 : 2 * events - 1});
  }
  const auto now = state_at(*shard.kind, shard.journal, one);
  EXPECT_EQ(now->payload, "10/10");
  EXPECT_EQ(now->format, PayloadFormat::text);
}

TEST(Replay, ReadsOnFromTheNearestSnapshot) {
  OneShard shard;
  shard.kind->retained.snapshot_every = 4;
  for (int i = 1; i <= 10; ++i) shard.get("add a:1");

  EXPECT_EQ(replay(*shard.kind, shard.journal, one)->replayed, 2u);
  EXPECT_EQ(replay(*shard.kind, shard.journal, one, GlobalPosition{7})->replayed, 3u);
  EXPECT_EQ(replay(*shard.kind, shard.journal, one, GlobalPosition{8})->replayed, 0u);
  EXPECT_EQ(replay(*shard.kind, shard.journal, one, GlobalPosition{8})->position, GlobalPosition{8});
  EXPECT_EQ(replay(*shard.kind, shard.journal, one, GlobalPosition{3})->replayed, 3u);
}

TEST(Replay, RefusesAGapAndARepetition) {
  CounterKind kind;
  for (const std::uint64_t second : {1u, 3u}) {
    Replay replay(kind, one);
    ASSERT_TRUE(replay.begin(std::nullopt));
    Page page;
    for (const std::uint64_t seq_nr : {std::uint64_t{1}, second}) {
      RecordedEvent event;
      event.seq_nr = SeqNr{seq_nr};
      event.type = "added";
      event.payload = "1";
      page.events.push_back(event);
    }
    EXPECT_EQ(replay.page(page).error().code, ErrorCode::corruption);
  }
}

TEST(Replay, RefusesErasedEventsAndPagesThatDoNotGetOn) {
  CounterKind kind;
  Replay replay(kind, one);
  ASSERT_TRUE(replay.begin(std::nullopt));
  Page page;
  EXPECT_EQ(replay.page(page).error().code, ErrorCode::unavailable);
  RecordedEvent event;
  event.seq_nr = SeqNr{1};
  event.type = "added";
  event.state = EventState::erased;
  page.events.push_back(event);
  EXPECT_EQ(replay.page(page).error().code, ErrorCode::corruption);
}

TEST(Replay, FailsWhereTheSnapshotCannotBeRead) {
  OneShard shard;
  shard.journal.snapshot_fault = Error(ErrorCode::io, "a fault");

  EXPECT_EQ(state_at(*shard.kind, shard.journal, one).error().code, ErrorCode::io);
}

}  // namespace
}  // namespace evershard::actors
