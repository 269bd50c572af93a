// When a coordinator leads, follows and gives way; and that of several, cut off from each other at random, one comes to
// lead that has the nodes.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "evershard/cluster/order/succession.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using Time = Succession::Time;

constexpr Time start_of_time{std::chrono::hours(1)};

Leader leader_at(std::uint64_t epoch, const std::string& address, std::uint64_t beat = 0) {
  return {Epoch{epoch}, address, beat};
}

class SuccessionTest : public ::testing::Test {
 protected:
  SuccessionTest() : succession_({.own_address = "b:1"}, start_of_time, 0) {}
  Succession succession_;
  Time now_ = start_of_time;
};

TEST_F(SuccessionTest, LeadsAtOnceWhereNobodyHasLed) {
  succession_.leader_is(std::nullopt, now_, 0);
  EXPECT_TRUE(succession_.should_lead(now_));
  EXPECT_EQ(succession_.follows(), std::nullopt);
}

TEST_F(SuccessionTest, WaitsForItsTurnWhichIsRandom) {
  Succession late({.own_address = "b:1"}, now_, 150);
  EXPECT_FALSE(late.should_lead(now_ + 149ms));
  EXPECT_TRUE(late.should_lead(now_ + 150ms));
}

TEST_F(SuccessionTest, FollowsWhoLeadsAsLongAsItIsThere) {
  succession_.leader_is(leader_at(3, "a:1"), now_, 0);
  ASSERT_EQ(succession_.follows(), "a:1");
  succession_.reached();
  EXPECT_FALSE(succession_.should_lead(now_ + 1h));

  succession_.lost(now_ + 1h, 70);

  EXPECT_FALSE(succession_.should_lead(now_ + 1h + 69ms));
  EXPECT_TRUE(succession_.should_lead(now_ + 1h + 70ms));
}

TEST_F(SuccessionTest, GivesALeaderItNeverReachedTimeToAnswer) {
  succession_.leader_is(leader_at(3, "a:1"), now_, 0);
  EXPECT_FALSE(succession_.should_lead(now_ + 1'499ms));
  // Read again: it is the same one, and the time goes on.
  succession_.leader_is(leader_at(3, "a:1"), now_ + 500ms, 0);
  EXPECT_TRUE(succession_.should_lead(now_ + 1'500ms));
}

TEST_F(SuccessionTest, LeavesALeaderAloneThatOthersReach) {
  for (std::uint64_t beat = 1; beat <= 100; ++beat) {
    succession_.leader_is(leader_at(3, "a:1", beat), now_ += 500ms, 0);
    EXPECT_FALSE(succession_.should_lead(now_ + 1'499ms));
  }
  EXPECT_TRUE(succession_.should_lead(now_ + 1'500ms));
}

TEST_F(SuccessionTest, ABeatFromBeforeItWasLostDelaysNobody) {
  succession_.leader_is(leader_at(3, "a:1", 7), now_, 0);
  succession_.reached();
  succession_.leader_is(leader_at(3, "a:1", 8), now_, 0);
  succession_.lost(now_, 0);
  EXPECT_TRUE(succession_.should_lead(now_));
}

TEST_F(SuccessionTest, ABeatThatIsReadOnlyOnceItWasLostDelaysNobodyTheNextOneDoes) {
  succession_.leader_is(leader_at(3, "a:1", 7), now_, 0);
  succession_.reached();
  succession_.lost(now_, 0);
  succession_.leader_is(leader_at(3, "a:1", 8), now_ + 10ms, 0);
  EXPECT_TRUE(succession_.should_lead(now_ + 10ms)) << "it may have been made before";
  succession_.leader_is(leader_at(3, "a:1", 9), now_ + 20ms, 0);
  EXPECT_FALSE(succession_.should_lead(now_ + 1'519ms)) << "it leads, and is merely not reached from here";
}

TEST_F(SuccessionTest, WaitsForALeaderThatHasNotSaidWhereItIs) {
  succession_.leader_is(leader_at(3, ""), now_, 0);
  EXPECT_EQ(succession_.follows(), std::nullopt);
  EXPECT_FALSE(succession_.should_lead(now_ + 1'499ms));
  EXPECT_TRUE(succession_.should_lead(now_ + 1'500ms));
}

TEST_F(SuccessionTest, FollowsTheNextOneInsteadOfLeading) {
  succession_.leader_is(leader_at(3, "a:1"), now_, 0);
  succession_.reached();
  succession_.lost(now_, 100);
  succession_.leader_is(leader_at(4, "c:1"), now_ + 50ms, 0);
  EXPECT_EQ(succession_.follows(), "c:1");
  EXPECT_FALSE(succession_.should_lead(now_ + 100ms));
  EXPECT_TRUE(succession_.should_lead(now_ + 50ms + 1'500ms));
}

TEST_F(SuccessionTest, WaitsForNoMoreThanABeatWhereItLedItself) {
  succession_.leader_is(leader_at(3, "b:1"), now_, 0);
  EXPECT_EQ(succession_.follows(), std::nullopt);
  EXPECT_FALSE(succession_.should_lead(now_ + 624ms));
  EXPECT_TRUE(succession_.should_lead(now_ + 625ms));
  // It beats: another process was told the same address.
  succession_.leader_is(leader_at(3, "b:1", 1), now_ + 500ms, 0);
  EXPECT_FALSE(succession_.should_lead(now_ + 500ms + 1'499ms));
}

TEST_F(SuccessionTest, GivesWayWhereTheNodesDoNotCome) {
  succession_.began(now_);
  EXPECT_FALSE(succession_.should_lead(now_));
  succession_.nodes(0, true, now_ + 1s);
  EXPECT_FALSE(succession_.should_give_way(now_ + 2'999ms));
  EXPECT_TRUE(succession_.should_give_way(now_ + 3s));

  succession_.ended(true, now_ + 3s, 0);
  EXPECT_FALSE(succession_.should_give_way(now_ + 1h));
  EXPECT_FALSE(succession_.should_lead(now_ + 4'999ms));
  EXPECT_TRUE(succession_.should_lead(now_ + 5s));
}

TEST_F(SuccessionTest, RestsLongerEachTimeUntilNodesCome) {
  const auto rests = [&] {
    succession_.began(now_);
    now_ += 3s;
    succession_.ended(true, now_, 0);
    auto rest = 0ms;
    while (!succession_.should_lead(now_ + rest)) rest += 100ms;
    now_ += rest;
    return rest;
  };
  EXPECT_EQ(rests(), 2s);
  EXPECT_EQ(rests(), 4s);
  EXPECT_EQ(rests(), 8s);
  EXPECT_EQ(rests(), 15s);
  EXPECT_EQ(rests(), 15s);
  succession_.began(now_);
  succession_.nodes(1, true, now_);
  EXPECT_EQ(rests(), 2s);
}

TEST_F(SuccessionTest, StaysWhereThereAreNoNodesAtAll) {
  succession_.began(now_);
  for (int i = 0; i < 100; ++i) succession_.nodes(0, false, now_ += 100ms);
  EXPECT_FALSE(succession_.should_give_way(now_));
}

TEST_F(SuccessionTest, WhoWasReplacedLooksWhoLeadsBeforeItLeads) {
  succession_.began(now_);
  succession_.nodes(3, true, now_);
  succession_.ended(false, now_, 0);
  EXPECT_FALSE(succession_.should_lead(now_));
  succession_.leader_is(leader_at(9, "a:1"), now_, 0);
  succession_.reached();
  EXPECT_FALSE(succession_.should_lead(now_ + 1h));
}

/// Coordinators, one log and one group of nodes; who reaches whom changes.
struct World {
  struct Process {
    Succession succession;
    std::string address;
    bool alive = true;
    bool log = true, nodes = true;  ///< whether it reaches them
    bool following = false;         ///< a session to whom it follows
  };
  std::mt19937_64 random;
  std::vector<Process> processes;
  std::vector<std::vector<bool>> reach;
  std::optional<Leader> led;
  std::size_t leads = 0;
  Time now = start_of_time;

  World(std::uint64_t seed, std::size_t count) : random(seed), reach(count, std::vector<bool>(count, true)) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto address = std::to_string(i) + ":1";
      processes.push_back({Succession({.own_address = address}, now, random()), address});
    }
  }
  bool leads_now(const Process& process) const { return led && led->address == process.address && is_leading(process); }
  static bool is_leading(const Process& process) { return process.succession.should_give_way(Time::max()); }

  void step() {
    now += 20ms;
    for (std::size_t i = 0; i < processes.size(); ++i) {
      auto& process = processes[i];
      if (!process.alive) continue;
      auto& succession = process.succession;
      if (is_leading(process)) {
        const bool here = process.nodes && leads_now(process);
        succession.nodes(here ? 3 : 0, true, now);
        if (here && process.log && now.time_since_epoch() % 500ms == 0ms) ++led->beat;
        if (process.log && !leads_now(process))
          succession.ended(false, now, random());  // it asks the log whether it still leads
        else if (succession.should_give_way(now))
          succession.ended(true, now, random());
        continue;
      }
      if (process.log) succession.leader_is(led, now, random());
      const auto& follows = succession.follows();
      bool there = false;
      for (std::size_t k = 0; follows && k < processes.size(); ++k)
        there |= processes[k].address == *follows && processes[k].alive && reach[i][k] && is_leading(processes[k]);
      if (there != process.following) there ? succession.reached() : succession.lost(now, random());
      process.following = there;
      if (succession.should_lead(now) && process.log) {
        led = Leader{Epoch{led ? led->epoch.value + 1 : 1}, process.address};
        ++leads;
        succession.began(now);
        process.following = false;
      }
    }
  }
  /// Whether somebody leads whom the nodes reach.
  bool works() const {
    return std::ranges::any_of(
        processes, [&](const auto& process) { return process.alive && process.nodes && leads_now(process); });
  }
};

TEST(SuccessionOfSeveral, OneComesToLeadThatHasTheNodesAndStays) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    World world(seed, 2 + seed % 3);
    for (int phase = 0; phase < 6; ++phase) {
      for (std::size_t i = 0; i < world.processes.size(); ++i) {
        auto& process = world.processes[i];
        process.log = world.random() % 4 != 0;
        process.nodes = world.random() % 3 != 0;
        process.alive = world.random() % 4 != 0;
        for (std::size_t k = 0; k < world.processes.size(); ++k) world.reach[i][k] = world.random() % 3 != 0;
      }
      // One at least is whole. The others may reach neither it nor the nodes, and want to lead.
      auto& whole = world.processes[world.random() % world.processes.size()];
      whole.alive = whole.log = whole.nodes = true;
      for (int i = 0; i < 50 * 60; ++i) world.step();  // a minute
      // Once somebody has the nodes, it keeps them.
      const auto leads = world.leads;
      int working = 0;
      constexpr int steps = 50 * 300;
      for (int i = 0; i < steps; ++i) world.step(), working += world.works();
      EXPECT_GT(working, steps * 9 / 10) << "phase " << phase;
      EXPECT_LE(world.leads - leads, 3u) << "phase " << phase;
    }
  }
}

TEST(SuccessionOfSeveral, WhereAllReachEachOtherNobodyTakesOverFromWhoLeads) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World world(seed, 3);
    for (int i = 0; i < 100; ++i) world.step();
    ASSERT_TRUE(world.works());
    const auto leads = world.leads;
    for (int i = 0; i < 50 * 600; ++i) world.step();
    EXPECT_EQ(world.leads, leads);
    EXPECT_LE(leads, 3u);
    // The leader dies: another one leads within its turn and what a look takes.
    for (auto& process : world.processes) process.alive = !world.leads_now(process);
    for (int i = 0; i < 10; ++i) world.step();
    EXPECT_TRUE(world.works()) << seed;
  }
}

}  // namespace
}  // namespace evershard::cluster
