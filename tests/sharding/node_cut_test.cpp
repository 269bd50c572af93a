#include "evershard/sharding/node_cut.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "evershard/sharding/runs.hpp"

namespace evershard::sharding {
namespace {

using testing::ElementsAre;

Segment of(std::uint16_t shard, std::uint64_t first, std::uint64_t end, std::vector<ShardOffset> refused = {}) {
  return {ShardId{shard}, Epoch{1}, ShardOffset{first}, ShardOffset{end}, std::move(refused)};
}

TEST(NodeCut, KeepsItsOwnSegmentsAndCountsTheOthers) {
  Cut cut;
  cut.number = CutNumber{3};
  cut.coordinator = Epoch{2};
  cut.first_position = GlobalPosition{10};
  cut.segments = {of(2, 1, 4), of(3, 1, 3, {ShardOffset{2}}), of(0, 7, 9), of(2, 4, 5, {ShardOffset{4}}), of(0, 9, 10),
                  of(1, 1, 2)};
  cut.openings = {{ShardId{1}, Epoch{2}, 2, ShardOffset{1}}, {ShardId{0}, Epoch{3}, 1, ShardOffset{1}}};

  const Cut kept = cut_of_node(cut, [](const Segment& segment) { return segment.shard.value < 1; }, {cut.openings[1]});

  EXPECT_EQ(kept.number, cut.number);
  EXPECT_EQ(kept.coordinator, cut.coordinator);
  EXPECT_THAT(kept.openings, ElementsAre(cut.openings[1]));
  EXPECT_THAT(kept.segments, ElementsAre(Segment::elsewhere(4), of(0, 7, 9), of(0, 9, 10), Segment::elsewhere(1)));
  EXPECT_EQ(kept.last_position(), cut.last_position());
  EXPECT_EQ(decode_cut(encode(kept), CutOf::node), kept);
}

TEST(NodeCut, AsksForShardAndEpoch) {
  Cut cut;
  cut.first_position = GlobalPosition{1};
  cut.segments = {of(0, 1, 3)};
  cut.segments.front().epoch = Epoch{5};

  EXPECT_THAT(cut_of_node(cut, [](const Segment& segment) { return segment.epoch == Epoch{4}; }, {}).segments,
              ElementsAre(Segment::elsewhere(2)));
}

// Whatever is kept: positions and offsets stay as they were, every position has a run, and the bytes come back.
TEST(NodeCut, ChangesNoPlace) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2'000; ++round) {
    Cut cut;
    cut.first_position = GlobalPosition{1 + random() % 1'000};
    std::array<std::uint64_t, 4> next{1, 1, 1, 1};
    for (auto n = random() % 6; n != 0; --n) {
      const auto shard = static_cast<std::uint16_t>(random() % 4);
      auto segment = of(shard, next[shard], next[shard] + 1 + random() % 5);
      next[shard] = segment.end.value;
      for (auto offset = segment.first; offset < segment.end; ++offset)
        if (random() % 4 == 0) segment.refused.push_back(offset);
      cut.segments.push_back(std::move(segment));
    }
    const auto mask = random() % 16;
    const auto own = [&](const Segment& segment) { return (mask >> segment.shard.value & 1) != 0; };

    const Cut kept = cut_of_node(cut, own, {});

    std::vector<sharding::Run> expected;
    for (const auto& run : runs_of(cut))
      if ((mask >> run.shard.value & 1) != 0) expected.push_back(run);
    EXPECT_EQ(runs_of(kept), expected);
    EXPECT_EQ(kept.last_position(), cut.last_position());
    auto position = kept.first_position;
    for (const auto& run : all_runs_of(kept)) {
      EXPECT_EQ(run.position, position);
      position = position + run.count;
    }
    EXPECT_EQ(position, cut.last_position() + 1);
    EXPECT_EQ(decode_cut(encode(kept), CutOf::node), kept);
    EXPECT_EQ(cut_of_node(kept, own, {}), kept);
  }
}

TEST(CutCodec, RefusesADamagedCountOfOtherNodes) {
  Cut cut;
  cut.first_position = GlobalPosition{1};
  cut.segments = {Segment::elsewhere(5)};
  const auto good = encode(cut);
  auto none = good;
  none.back() = 0;
  auto flagged = good;
  flagged[6] = static_cast<char>(flagged[6] | 4);

  EXPECT_EQ(decode_cut(good, CutOf::node), cut);
  EXPECT_EQ(decode_cut(good).error().code, ErrorCode::corruption) << "a whole store has every position";
  EXPECT_EQ(decode_cut(none, CutOf::node).error().code, ErrorCode::corruption);
  EXPECT_EQ(decode_cut(flagged, CutOf::node).error().code, ErrorCode::corruption);
  EXPECT_EQ(decode_cut(good.substr(0, good.size() - 1), CutOf::node).error().code, ErrorCode::corruption);
}

}  // namespace
}  // namespace evershard::sharding
