#include "evershard/sharding/runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace evershard::sharding {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RunsOf, FollowsSegmentsAndEndsAtRefusedOffsets) {
  Cut cut;
  cut.first_position = GlobalPosition{11};
  cut.segments = {
      {ShardId{2}, Epoch{1}, ShardOffset{5}, ShardOffset{10}, {ShardOffset{5}, ShardOffset{7}, ShardOffset{9}}},
      {ShardId{0}, Epoch{1}, ShardOffset{1}, ShardOffset{3}, {}},
      {ShardId{1}, Epoch{1}, ShardOffset{4}, ShardOffset{5}, {ShardOffset{4}}}};

  EXPECT_THAT(runs_of(cut), ElementsAre(sharding::Run{ShardId{2}, GlobalPosition{11}, ShardOffset{6}, 1},
                                        sharding::Run{ShardId{2}, GlobalPosition{12}, ShardOffset{8}, 1},
                                        sharding::Run{ShardId{0}, GlobalPosition{13}, ShardOffset{1}, 2}));
  EXPECT_EQ(cut.events(), 4u);
  EXPECT_EQ(cut.last_position(), GlobalPosition{14});
}

TEST(RunsOf, AnEmptyCutIsEmpty) {
  Cut cut;
  cut.first_position = GlobalPosition{1};

  EXPECT_THAT(runs_of(cut), IsEmpty());
  EXPECT_EQ(cut.last_position(), GlobalPosition{0});
}

TEST(ShardRuns, MergesNeighbours) {
  ShardRuns runs;

  runs.add({ShardId{1}, GlobalPosition{10}, ShardOffset{1}, 3});
  runs.add({ShardId{1}, GlobalPosition{13}, ShardOffset{4}, 2});
  runs.add({ShardId{1}, GlobalPosition{15}, ShardOffset{7}, 1});
  runs.add({ShardId{1}, GlobalPosition{17}, ShardOffset{8}, 1});
  runs.add({ShardId{1}, GlobalPosition{20}, ShardOffset{9}, 0});

  EXPECT_THAT(runs.runs(), ElementsAre(sharding::Run{ShardId{1}, GlobalPosition{10}, ShardOffset{1}, 5},
                                       sharding::Run{ShardId{1}, GlobalPosition{15}, ShardOffset{7}, 1},
                                       sharding::Run{ShardId{1}, GlobalPosition{17}, ShardOffset{8}, 1}));
}

TEST(ShardRunsDeathTest, RefusesWhatDoesNotRise) {
  ShardRuns runs;
  runs.add({ShardId{1}, GlobalPosition{10}, ShardOffset{5}, 3});

  EXPECT_DEATH(runs.add({ShardId{1}, GlobalPosition{20}, ShardOffset{7}, 1}), "rise together");
  EXPECT_DEATH(runs.add({ShardId{1}, GlobalPosition{12}, ShardOffset{8}, 1}), "rise together");
  EXPECT_DEATH(runs.add({ShardId{2}, GlobalPosition{20}, ShardOffset{8}, 1}), "of one shard");
}

TEST(ShardRuns, FindsBothWaysWhateverTheGaps) {
  std::mt19937 random(4);
  for (int round = 0; round != 200; ++round) {
    ShardRuns runs;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;  // position, offset
    std::uint64_t position = 1 + random() % 3, offset = 1 + random() % 3;
    for (int i = 0; i != 30; ++i) {
      const std::uint64_t count = random() % 4;
      runs.add({ShardId{0}, GlobalPosition{position}, ShardOffset{offset}, count});
      for (std::uint64_t n = 0; n != count; ++n) pairs.emplace_back(position++, offset++);
      position += random() % 3;
      offset += random() % 2;
    }

    std::size_t found_positions = 0, found_offsets = 0;
    for (std::uint64_t n = 0; n != position + offset; ++n) {
      found_positions += runs.position_of(ShardOffset{n}).has_value();
      found_offsets += runs.offset_of(GlobalPosition{n}).has_value();
    }

    EXPECT_EQ(found_positions, pairs.size());
    EXPECT_EQ(found_offsets, pairs.size());
    for (auto& [p, o] : pairs) {
      EXPECT_EQ(runs.position_of(ShardOffset{o}), GlobalPosition{p});
      EXPECT_EQ(runs.offset_of(GlobalPosition{p}), ShardOffset{o});
    }
  }
}

}  // namespace
}  // namespace evershard::sharding
