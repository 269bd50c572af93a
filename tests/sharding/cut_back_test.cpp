#include "evershard/sharding/cut_back.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "evershard/sharding/runs.hpp"

namespace evershard::sharding {
namespace {

TEST(CutBack, KeepsAWholeSegmentsRefusedOffsetsAndNoneBehind) {
  Cut cut;
  cut.first_position = GlobalPosition{11};
  cut.segments = {
      {ShardId{2}, Epoch{1}, ShardOffset{5}, ShardOffset{10}, {ShardOffset{5}, ShardOffset{7}, ShardOffset{9}}},
      {ShardId{0}, Epoch{3}, ShardOffset{1}, ShardOffset{3}, {}},
      {ShardId{1}, Epoch{1}, ShardOffset{4}, ShardOffset{5}, {ShardOffset{4}}}};

  auto inside = cut_back(cut, GlobalPosition{11});
  auto between = cut_back(cut, GlobalPosition{12});

  EXPECT_EQ(inside.segments,
            (std::vector<Segment>{{ShardId{2}, Epoch{1}, ShardOffset{5}, ShardOffset{7}, {ShardOffset{5}}}}));
  EXPECT_EQ(between.segments, (std::vector<Segment>{cut.segments[0]}));
  EXPECT_EQ(cut_back(cut, GlobalPosition{14}).segments, (std::vector<Segment>{cut.segments[0], cut.segments[1]}));
}

TEST(CutBack, GivesThePrefixOfItsRunsWhereverItEnds) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 500; ++round) {
    Cut cut;
    cut.number = CutNumber{9};
    cut.first_position = GlobalPosition{1 + random() % 1'000};
    std::vector<std::uint64_t> next(4, 1);
    for (std::size_t n = 1 + random() % 6; n != 0; --n) {
      auto shard = random() % 4;
      Segment segment{ShardId{static_cast<std::uint16_t>(shard)},
                      Epoch{1 + random() % 2},
                      ShardOffset{next[shard]},
                      ShardOffset{next[shard] + 1 + random() % 5},
                      {}};
      next[shard] = segment.end.value;
      for (auto offset = segment.first; offset < segment.end; ++offset)
        if (random() % 4 == 0) segment.refused.push_back(offset);
      cut.segments.push_back(segment);
    }
    for (std::uint64_t kept = 1; kept <= cut.events(); ++kept) {
      auto shorter = cut_back(cut, cut.first_position + (kept - 1));

      ASSERT_EQ(shorter.events(), kept);
      ASSERT_EQ(shorter.number, cut.number);
      ASSERT_EQ(decode_cut(encode(shorter)), shorter);
      std::vector<std::pair<ShardId, ShardOffset>> events, all;
      for (const auto& run : runs_of(shorter))
        for (std::uint64_t i = 0; i < run.count; ++i) events.emplace_back(run.shard, run.offset + i);
      for (const auto& run : runs_of(cut))
        for (std::uint64_t i = 0; i < run.count; ++i) all.emplace_back(run.shard, run.offset + i);
      all.resize(kept);
      ASSERT_EQ(events, all);
    }
  }
}

TEST(CutBackDeathTest, RefusesPositionsThatAreNotItsOwn) {
  Cut cut;
  cut.first_position = GlobalPosition{5};
  cut.segments = {{ShardId{0}, Epoch{1}, ShardOffset{1}, ShardOffset{3}, {}}};

  EXPECT_DEATH(static_cast<void>(cut_back(cut, GlobalPosition{4})), "one of its positions");
  EXPECT_DEATH(static_cast<void>(cut_back(cut, GlobalPosition{7})), "one of its positions");
}

}  // namespace
}  // namespace evershard::sharding
