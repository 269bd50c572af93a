// From a snapshot and pages to a state; the state as of any position.

#include "evershard/actors/entity/replay.hpp"

#include <gtest/gtest.h>

#include "evershard/protocol/retention_events.hpp"
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
  EXPECT_EQ(replay.page(page).error().code, ErrorCode::not_found);
}

/// `r` removed, `e` an event, `!` the event by which the aggregate was removed.
Page page_of(std::string_view events, std::uint64_t first = 1) {
  Page page;
  for (const char what : events) {
    RecordedEvent event;
    event.seq_nr = SeqNr{first};
    event.position = GlobalPosition{first++};
    if (what == 'r') event.state = EventState::removed;
    if (what == 'e') event.type = "added", event.payload = "1";
    if (what == '!') event.type = retention::aggregate_removed;
    page.events.push_back(std::move(event));
  }
  page.complete = true;
  return page;
}

TEST(Replay, RefusesWhereRemovedEventsAreNeeded) {
  CounterKind kind;
  for (const std::string_view events : {"r", "rrr", "rre", "er", "rr!er", "e!r"}) {
    SCOPED_TRACE(events);
    Replay replay(kind, one);
    ASSERT_TRUE(replay.begin(std::nullopt));
    const auto done = replay.page(page_of(events));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::not_found);
    EXPECT_NE(done.error().what.find("removed"), std::string::npos) << done.error().what;
  }
}

TEST(Replay, BeginsAnewWhereTheAggregateWasRemoved) {
  CounterKind kind;
  for (const auto& [events, state] : {std::pair{"rr!", "0/0"}, {"rr!ee", "2/2"}, {"rr!e!", "0/0"}, {"ee!e", "1/1"}}) {
    SCOPED_TRACE(events);
    Replay replay(kind, one);
    ASSERT_TRUE(replay.begin(std::nullopt));
    const auto done = replay.page(page_of(events));
    ASSERT_TRUE(done && *done) << done.error().what;
    const auto replayed = replay.take();
    EXPECT_EQ(*kind.encode(*replayed.state), state);
    EXPECT_EQ(replayed.version, SeqNr{std::string_view(events).size()});
  }
}

TEST(Replay, LoadsATruncatedAggregateFromItsSnapshot) {
  CounterKind kind;
  RecordedSnapshot snapshot;
  snapshot.aggregate = one;
  snapshot.version = SeqNr{3};
  snapshot.position = GlobalPosition{3};
  snapshot.payload = "7/3";
  snapshot.schema_revision = kind.schema_revision();
  Replay replay(kind, one);
  ASSERT_TRUE(replay.begin(std::optional(snapshot)));
  ASSERT_EQ(replay.from(), SeqNr{3});

  const auto done = replay.page(page_of("re", 3));  // its own event is a stub: that it is there is enough

  ASSERT_TRUE(done && *done) << done.error().what;
  const auto replayed = replay.take();
  EXPECT_EQ(replayed.snapshot, SnapshotUse::used);
  EXPECT_EQ(replayed.version, SeqNr{4});
}

TEST(Replay, FailsWhereTheSnapshotCannotBeRead) {
  OneShard shard;
  shard.journal.snapshot_fault = Error(ErrorCode::io, "a fault");

  EXPECT_EQ(state_at(*shard.kind, shard.journal, one).error().code, ErrorCode::io);
}

/// Hands on what it is asked.
class PassingJournal : public AggregateJournal {
 public:
  explicit PassingJournal(SmallJournal& behind) : behind_(behind) {}
  void append(Append append, AppendChain chain, std::uint64_t loaded_at,
              std::function<void(Result<Appended>)> done) override {
    behind_.append(std::move(append), chain, loaded_at, std::move(done));
  }
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                                 std::optional<GlobalPosition> up_to) const override {
    return behind_.snapshot(aggregate, up_to);
  }
  [[nodiscard]] Result<Page> stream(const AggregateId& aggregate, const StreamOptions& options) const override {
    return behind_.stream(aggregate, options);
  }
  [[nodiscard]] Result<Page> query(const Query& query, const ReadOptions& options) const override {
    return behind_.query(query, options);
  }
  [[nodiscard]] Result<std::optional<RecordedCommand>> command(const AggregateId& aggregate,
                                                               std::string_view id) const override {
    return behind_.command(aggregate, id);
  }
  [[nodiscard]] Result<void> put_snapshot(Snapshot snapshot, std::uint64_t loaded_at) override {
    return behind_.put_snapshot(std::move(snapshot), loaded_at);
  }
  [[nodiscard]] GlobalPosition watermark() const override { return behind_.watermark(); }
  [[nodiscard]] std::uint64_t erasures() const override { return behind_.erasures(); }

 protected:
  SmallJournal& behind_;
};

/// Something is erased while its events are read.
class ErasedWhileRead final : public PassingJournal {
 public:
  using PassingJournal::PassingJournal;
  [[nodiscard]] Result<Page> stream(const AggregateId& aggregate, const StreamOptions& options) const override {
    ++behind_.erased;
    return behind_.stream(aggregate, options);
  }
};

/// Of several streams it gives some nothing: those are to be asked for alone.
class GivesLittle final : public PassingJournal {
 public:
  using PassingJournal::PassingJournal;
  [[nodiscard]] std::vector<Result<Page>> streams(std::span<const StreamRead> reads) const override {
    auto pages = behind_.streams(reads);
    for (std::size_t i = 1; i < pages.size(); i += 2)
      if (pages[i] && !pages[i]->events.empty()) pages[i] = Page{};
    return pages;
  }
};

TEST(Replay, GivesManyAtOnceAsEachAlone) {
  OneShard shard;
  shard.kind->retained.snapshot_every = 4;
  std::vector<ToReplay> all;
  for (std::uint64_t n = 1; n <= 7; ++n) {
    all.push_back({shard.kind.get(), AggregateId{"counter", std::to_string(n)}});
    for (std::uint64_t i = 1; i < n * n; ++i) shard.get("add a:1", {.aggregate = all.back().aggregate});
  }
  shard.journal.outside(all[5].aggregate, "nobody knows it", "");
  const GivesLittle little(shard.journal);

  const auto together = replay_all(little, all);

  ASSERT_EQ(together.size(), all.size());
  for (std::size_t i = 0; i != all.size(); ++i) {
    const auto alone = replay(*shard.kind, shard.journal, all[i].aggregate);
    ASSERT_EQ(together[i].has_value(), alone.has_value()) << i;
    if (!alone) {
      EXPECT_EQ(together[i].error().what, alone.error().what);
      continue;
    }
    EXPECT_EQ(together[i]->version, alone->version);
    EXPECT_EQ(together[i]->position, alone->position);
    EXPECT_EQ(together[i]->replayed, alone->replayed);
    EXPECT_EQ(together[i]->snapshot, alone->snapshot);
    EXPECT_EQ(shard.kind->encode(*together[i]->state).value(), shard.kind->encode(*alone->state).value());
  }
  EXPECT_FALSE(together[5]);
  EXPECT_TRUE(replay_all(little, {}).empty());
}

TEST(Replay, ManyFailOrNotEachByItself) {
  OneShard shard;
  shard.journal.outside(one, "added", "1");
  shard.journal.stream_fault = Error(ErrorCode::io, "a fault");
  const std::vector<ToReplay> all{{shard.kind.get(), one}, {shard.kind.get(), AggregateId{"counter", "2"}}};
  for (const auto& result : replay_all(shard.journal, all)) EXPECT_EQ(result.error().code, ErrorCode::io);
  shard.journal.stream_fault.reset();
  shard.journal.snapshot_fault = Error(ErrorCode::io, "a fault");
  for (const auto& result : replay_all(shard.journal, all)) EXPECT_EQ(result.error().code, ErrorCode::io);
}

TEST(Replay, AStateIsAsOldAsTheBeginningOfItsLoad) {
  OneShard shard;
  shard.journal.outside(one, "added", "1");
  const ErasedWhileRead erased(shard.journal);
  EXPECT_EQ(replay(*shard.kind, erased, one)->loaded_at, 0u);
  EXPECT_GT(shard.journal.erased, 0u);
}

}  // namespace
}  // namespace evershard::actors
