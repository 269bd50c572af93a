// Snapshots: used when they fit, never trusted when they do not.

#include "tests/actors/aggregate/kit_looks.hpp"

namespace evershard {
namespace {

using EveryFour = BankOf<1, 4>;
using NextRevision = BankOf<2, 4>;

struct Kit : ActorKit {
  explicit Kit(ActorKitOptions options = {}) : ActorKit(options) { EXPECT_TRUE(host<EveryFour>()); }
  AggregateRef<EveryFour> account() { return get<EveryFour>("1"); }
  void deposit(int times) {
    for (int i = 0; i < times; ++i) EXPECT_TRUE(account().ask(Deposit{1}));
  }
  /// What loading it again took.
  struct Load {
    std::uint64_t replayed, used, skipped;
    friend bool operator==(const Load&, const Load&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Load& l) {
      return out << l.replayed << ' ' << l.used << ' ' << l.skipped;
    }
  };
  Load load(std::int64_t balance) {
    restart();
    return load_now(balance);
  }
  Load load_now(std::int64_t balance) {
    EXPECT_EQ(shown(account().ask(Look{})), std::to_string(balance));
    const auto counters = figures().counters;
    return {counters.replayed, counters.snapshots_used, counters.snapshots_skipped};
  }
};

TEST(Snapshots, AreTakenByPolicyAndSaveReplaying) {
  Kit kit;
  kit.deposit(10);

  const auto taken = kit.snapshots_of(one);

  ASSERT_FALSE(taken.empty());
  EXPECT_EQ(taken[0].version, SeqNr{8});
  EXPECT_EQ(taken[0].payload, "8/8");
  EXPECT_EQ(kit.load(10), (Kit::Load{2, 1, 0}));
}

TEST(Snapshots, AreTakenOnDemandAndByHandlers) {
  Kit kit;
  EXPECT_EQ(kit.account().snapshot().error().code, ErrorCode::not_found) << "there is nothing to take one of";
  kit.deposit(2);
  EXPECT_TRUE(kit.account().snapshot());
  EXPECT_EQ(kit.snapshots_of(one)[0].version, SeqNr{2});

  EXPECT_TRUE(kit.account().ask(DepositAndSnap{1}));

  EXPECT_EQ(kit.snapshots_of(one)[0].version, SeqNr{3});
  EXPECT_EQ(kit.load(3), (Kit::Load{0, 1, 0}));
}

TEST(Snapshots, AreKeptAsManyAsTheKindSays) {
  Kit kit;
  kit.deposit(17);

  const auto kept = kit.snapshots_of(one);

  ASSERT_EQ(kept.size(), 3u) << "the latest, and two copies";
  EXPECT_EQ(kept[1].version, SeqNr{16});
  EXPECT_EQ(kept[2].version, SeqNr{12}) << "the oldest went first";
  EXPECT_EQ(kit.account().state_at(GlobalPosition{13})->state.balance, 13);
  EXPECT_EQ(kit.account().state_at(GlobalPosition{3})->state.balance, 3) << "older than any of them";
}

TEST(Snapshots, ThatAreDamagedAreSkipped) {
  Kit kit;
  kit.deposit(10);

  EXPECT_GT(kit.damage_snapshot(one), 0u);

  EXPECT_EQ(kit.load(10), (Kit::Load{10, 0, 1}));
}

TEST(Snapshots, OfAnotherRevisionAreSkippedAndReplaced) {
  Kit kit;
  kit.deposit(10);
  kit.restart_without_kinds();
  ASSERT_TRUE(kit.host<NextRevision>());
  auto account = kit.get<NextRevision>("1");

  EXPECT_EQ(shown(account.ask(Look{})), "10");

  EXPECT_EQ(kit.figures().counters.snapshots_skipped, 1u);
  EXPECT_EQ(kit.figures().counters.replayed, 10u);
  EXPECT_TRUE(account.ask(DepositAndSnap{1}));
  EXPECT_EQ(kit.snapshots_of(one)[0].schema_revision, 2u);
}

TEST(Snapshots, AheadOfTheJournalAreSkipped) {
  for (const std::uint64_t position : {10u, 12u}) {
    Kit kit;
    kit.deposit(10);
    RecordedSnapshot ahead;
    ahead.aggregate = one;
    ahead.version = SeqNr{12};
    ahead.position = GlobalPosition{position};
    ahead.payload = "1000000/12";
    ahead.schema_revision = 1;
    kit.plant_snapshot(ahead);

    EXPECT_EQ(kit.load(10), (Kit::Load{10, 0, 1}));
    EXPECT_EQ(shown(kit.account().ask(Deposit{1})), "11");
  }
}

// Right version, another event: a store that was put back, and went on otherwise.
TEST(Snapshots, OfAnotherHistoryAreSkipped) {
  Kit kit;
  ASSERT_TRUE(kit.append_from_outside(from_outside("2", "deposited", "1")));
  kit.deposit(3);
  RecordedSnapshot other;
  other.aggregate = one;
  other.version = SeqNr{3};
  other.position = GlobalPosition{3};
  other.payload = "1000000/3";
  other.schema_revision = 1;
  kit.plant_snapshot(other);

  EXPECT_EQ(kit.load(3), (Kit::Load{3, 0, 1}));
}

TEST(Snapshots, ThatAreNoStateAreSkipped) {
  Kit kit;
  kit.deposit(3);
  RecordedSnapshot garbage;
  garbage.aggregate = one;
  garbage.version = SeqNr{3};
  garbage.position = GlobalPosition{3};
  garbage.payload = "garbage";
  garbage.schema_revision = 1;
  kit.plant_snapshot(garbage);

  EXPECT_EQ(kit.load(3), (Kit::Load{3, 0, 1}));
}

TEST(Snapshots, StandBehindEverythingAskedBefore) {
  Kit kit;
  kit.hold_appends();
  std::vector<std::future<Answer<Balance>>> pending;
  for (int i = 0; i < 3; ++i) pending.push_back(kit.account().ask_future(Deposit{1}));
  kit.run();
  EXPECT_FALSE(kit.account().snapshot(1s)) << "nothing it would show is durable";
  EXPECT_THAT(kit.snapshots_of(one), IsEmpty());

  kit.release_appends();
  kit.advance(1s);

  EXPECT_TRUE(kit.account().snapshot());
  EXPECT_EQ(kit.snapshots_of(one)[0].payload, "3/3");
}

// A state that outgrew the limit: the events are written, the snapshot is not.
TEST(Snapshots, TooLargeToBeTakenTakeNothingWithThem) {
  Limits limits;
  limits.snapshot_bytes_max = 2;
  Kit kit({.limits = limits});

  kit.deposit(4);

  EXPECT_THAT(kit.snapshots_of(one), IsEmpty());
  EXPECT_EQ(kit.figures().counters.snapshots_dropped, 1u);
  EXPECT_EQ(kit.account().snapshot().error().code, ErrorCode::too_large);
  EXPECT_EQ(shown(kit.account().ask(Look{})), "4");
}

}  // namespace
}  // namespace evershard
