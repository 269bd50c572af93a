// Who is to keep what: by hand, and random clusters that are brought to rest step by step.

#include "evershard/cluster/order/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace evershard::cluster {
namespace {

using sharding::ReplicaSet;

Placement placed(std::uint32_t nodes, std::size_t shards, std::size_t replicas) {
  Placement placement;
  placement.replicas = replicas;
  for (std::uint32_t n = 1; n <= nodes; ++n) placement.nodes[n] = {};
  for (std::size_t s = 0; s != shards; ++s) {
    ReplicaSet set{static_cast<std::uint32_t>(replicas / 2 + 1), {}, {}};
    for (std::size_t r = 0; r != replicas; ++r) set.nodes.push_back(static_cast<std::uint32_t>((s + r) % nodes + 1));
    std::ranges::sort(set.nodes);
    placement.sets.push_back(set);
  }
  return placement;
}

/// One after the other, as the coordinator does it. Returns: how many replicas were made.
std::size_t bring_to_rest(Placement& placement) {
  std::size_t made = 0;
  for (int round = 0; round != 1'000; ++round) {
    bool changed = false;
    if (const auto learns = placement.learns()) {
      for (const ShardId shard : learns->shards) {
        auto& set = placement.sets[shard.value];
        EXPECT_FALSE(set.has(learns->node)) << "shard " << shard.value << ", node " << learns->node;
        set.nodes.push_back(learns->node);
        set.learned.push_back(learns->node);
        std::ranges::sort(set.nodes);
        std::ranges::sort(set.learned);
        ++made;
      }
      changed = true;
    }
    for (const auto& [shard, node] : placement.surplus()) {
      auto& set = placement.sets[shard.value];
      EXPECT_GT(set.nodes.size(), 2 * set.quorum - 1) << "shard " << shard.value;
      std::erase(set.nodes, node);
      std::erase(set.learned, node);
      changed = true;
    }
    std::erase_if(placement.moves, [&](const auto& move) { return placement.done(move); });
    if (!changed) {
      EXPECT_EQ(placement.to_do(), 0u);
      return made;
    }
  }
  ADD_FAILURE() << "it does not come to rest";
  return made;
}

std::map<std::uint32_t, std::size_t> loads(const Placement& placement) {
  std::map<std::uint32_t, std::size_t> loads;
  for (const auto& [node, of] : placement.nodes) loads[node] = 0;
  for (const auto& set : placement.sets)
    for (const auto node : set.nodes) ++loads[node];
  return loads;
}

TEST(Placement, WhereNothingIsWantedNothingChanges) {
  auto placement = placed(4, 8, 3);
  placement.even = true;
  EXPECT_FALSE(placement.learns());
  EXPECT_TRUE(placement.surplus().empty());
  EXPECT_EQ(placement.to_do(), 0u);
}

// Asked whether all is done while the node that is to get its share is started again.
TEST(Placement, WhatANodeIsToGetThatIsAwayIsStillToDo) {
  auto placement = placed(3, 16, 3);
  placement.nodes[4] = {.takes = false, .away = true};
  placement.even = true;
  EXPECT_FALSE(placement.learns());
  EXPECT_EQ(placement.to_do(), 12u);
  placement.nodes[4] = {.takes = false};
  EXPECT_EQ(placement.to_do(), 0u) << "its disk is full";
}

TEST(Placement, ANodeThatComesGetsItsShareOnce) {
  auto placement = placed(3, 16, 3);
  placement.nodes[4] = {};
  EXPECT_FALSE(placement.learns()) << "nobody asked for it";
  placement.even = true;
  EXPECT_EQ(bring_to_rest(placement), 12u);
  for (const auto& [node, load] : loads(placement)) EXPECT_EQ(load, 12u) << "node " << node;
}

TEST(Placement, WhileOthersGiveUpWhatTheyKeepTooMuchNobodyLearnsMore) {
  auto placement = placed(3, 16, 3);
  placement.nodes[4] = {};
  placement.even = true;
  const auto learns = placement.learns();
  ASSERT_TRUE(learns);
  for (const ShardId shard : learns->shards) placement.sets[shard.value].nodes.push_back(4);
  EXPECT_FALSE(placement.learns());
}

TEST(Placement, WhoIsGoneIsReplacedWithoutBeingAsked) {
  auto placement = placed(4, 8, 3);
  placement.nodes[2].stays = placement.nodes[2].takes = false;
  EXPECT_EQ(bring_to_rest(placement), 6u);
  EXPECT_EQ(loads(placement)[2], 0u);
}

TEST(Placement, WithoutRoomWhoIsGoneStaysInItsSets) {
  auto placement = placed(3, 4, 3);
  placement.nodes[2].stays = placement.nodes[2].takes = false;
  EXPECT_EQ(bring_to_rest(placement), 0u);
  EXPECT_EQ(loads(placement)[2], 4u);
}

TEST(Placement, AMoveGoesWhereSomebodyWantsIt) {
  auto placement = placed(4, 4, 3);
  const ShardId shard{0};  // of 1, 2, 3
  placement.moves = {{shard, 2, 4}};
  EXPECT_EQ(bring_to_rest(placement), 1u);
  EXPECT_EQ(placement.sets[0].nodes, (std::vector<std::uint32_t>{1, 3, 4}));
}

// Or it would be given the shard and lose it again, a cut each time, for ever.
TEST(Placement, AMoveToANodeThatIsToKeepNothingIsNotBegun) {
  auto placement = placed(4, 4, 3);
  placement.moves = {{ShardId{0}, 2, 4}};
  placement.nodes[4].stays = false;
  const auto learns = placement.learns();
  EXPECT_TRUE(!learns || learns->node != 4);
}

TEST(Placement, WhoWasChosenToGoStaysChosen) {
  auto placement = placed(4, 1, 3);
  placement.sets[0].nodes = {1, 2, 3, 4};
  placement.going = {{ShardId{0}, 2}};
  EXPECT_EQ(placement.surplus(), (std::map<ShardId, std::uint32_t>{{ShardId{0}, 2}}));
}

TEST(Placement, AShardWithoutReplicasIsLeftAlone) {
  auto placement = placed(3, 2, 3);
  placement.sets[1] = {};
  placement.even = true;
  placement.nodes[4] = {};
  bring_to_rest(placement);
  EXPECT_TRUE(placement.sets[1].nodes.empty());
}

TEST(Placement, ASetKeepsTheNumberThatItBeganWith) {
  auto placement = placed(5, 4, 3);
  placement.replicas = 1;
  EXPECT_EQ(bring_to_rest(placement), 0u);
  EXPECT_TRUE(placement.surplus().empty());
}

class AnyPlacement : public testing::TestWithParam<std::uint32_t> {};

TEST_P(AnyPlacement, ComesToRestWithEnoughReplicasApartAndEven) {
  std::mt19937_64 random(GetParam());
  const auto pick = [&](std::uint64_t below) { return random() % below; };
  const auto nodes = static_cast<std::uint32_t>(3 + pick(6));
  auto placement = placed(nodes, 1 + pick(20), 3);
  for (std::uint32_t n = nodes + 1; n <= nodes + pick(4); ++n) placement.nodes[n] = {};
  std::size_t stay = placement.nodes.size();
  for (auto& [node, of] : placement.nodes) {
    if (stay > 3 && pick(4) == 0) {
      of.stays = false;
      of.takes = pick(2) == 0;
      --stay;
    }
  }
  for (std::uint16_t s = 0; s != placement.sets.size(); ++s)
    if (pick(4) == 0)
      placement.moves.push_back(
          {ShardId{s}, static_cast<std::uint32_t>(pick(nodes + 1)), static_cast<std::uint32_t>(1 + pick(nodes))});
  placement.even = pick(2) == 0;
  const bool zones = pick(3) == 0;
  if (zones)
    for (auto& [node, of] : placement.nodes) of.zone = std::string(1, static_cast<char>('a' + node % 3));
  bring_to_rest(placement);
  auto all = loads(placement);
  std::size_t most = 0, least = SIZE_MAX;
  for (const auto& [node, of] : placement.nodes) {
    if (!of.stays) {
      EXPECT_EQ(all[node], 0u) << "node " << node;
      continue;
    }
    most = std::max(most, all[node]);
    least = std::min(least, all[node]);
  }
  if (placement.even && !zones) {
    EXPECT_LE(most, least + 1);
  }
  std::set<std::string> staying_zones;
  for (const auto& [node, of] : placement.nodes)
    if (of.stays) staying_zones.insert(of.zone);
  for (const auto& set : placement.sets) {
    EXPECT_EQ(set.nodes.size(), 3u);
    if (!zones || staying_zones.size() < 3) continue;
    // Whoever was made anew is apart from the others; where nobody had to go, it is as it was.
    std::set<std::string> used;
    for (const auto node : set.nodes) used.insert(placement.nodes.at(node).zone);
    if (!set.learned.empty()) {
      EXPECT_GE(used.size(), 2u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AnyPlacement, testing::Range(1u, 2'000u));

}  // namespace
}  // namespace evershard::cluster
