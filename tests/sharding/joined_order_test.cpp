#include "evershard/sharding/joined_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "evershard/sharding/node_cut.hpp"
#include "evershard/sharding/runs.hpp"
#include "tests/sharding/cuts.hpp"

namespace evershard::sharding {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint32_t joined_shards = 4;

Cut numbered(std::uint64_t number, std::uint64_t first, std::vector<Segment> segments) {
  return {CutNumber{number}, Epoch{3}, GlobalPosition{first}, std::move(segments), {}};
}

JoinedOrder::Part part_of(std::vector<Cut> cuts, std::vector<std::uint16_t> shards) {
  JoinedOrder::Part part;
  for (const auto shard : shards) part.shards.push_back(ShardId{shard});
  part.next = [cuts = std::move(cuts), n = std::size_t{0}]() mutable -> Result<std::optional<Cut>> {
    if (n == cuts.size()) return std::nullopt;
    return std::optional(cuts[n++]);
  };
  return part;
}

Result<std::vector<Cut>> joined(std::vector<JoinedOrder::Part> parts, std::uint64_t end,
                                std::vector<ShardOffset>* ends = nullptr) {
  JoinedOrder order(std::move(parts), joined_shards, GlobalPosition{end});
  std::vector<Cut> cuts;
  for (;;) {
    auto cut = order.next();
    if (!cut) return refuse(cut.error());
    if (!*cut) break;
    cuts.push_back(std::move(**cut));
  }
  if (ends != nullptr) *ends = order.ends();
  return cuts;
}

TEST(JoinedOrder, TakesEachShardFromItsPartAndNumbersOffsetsAndCutsAnew) {
  // Offsets 5 and 9 of shard 0 were refused; shard 1 begins behind what was given up of it.
  const auto first = part_of({numbered(2, 1, {segment_of(0, 2, 4, 7, {ShardOffset{5}}), Segment::elsewhere(3)}),
                              numbered(5, 6, {Segment::elsewhere(1), segment_of(0, 3, 8, 11, {ShardOffset{9}})})},
                             {0});
  const auto second = part_of({numbered(2, 1, {Segment::elsewhere(2), segment_of(1, 1, 40, 43)}),
                               numbered(5, 6, {segment_of(2, 1, 1, 2), segment_of(0, 3, 8, 11, {ShardOffset{9}})})},
                              {1, 2, 3});
  std::vector<ShardOffset> ends;

  const auto cuts = joined({first, second}, 8, &ends);

  ASSERT_TRUE(cuts) << cuts.error().what;
  EXPECT_THAT(
      *cuts, ElementsAre(
                 Cut{CutNumber{1}, Epoch{1}, GlobalPosition{1}, {segment_of(0, 1, 1, 3), segment_of(1, 1, 1, 4)}, {}},
                 Cut{CutNumber{2}, Epoch{1}, GlobalPosition{6}, {segment_of(2, 1, 1, 2), segment_of(0, 1, 3, 5)}, {}}));
  EXPECT_THAT(ends, ElementsAre(ShardOffset{5}, ShardOffset{4}, ShardOffset{2}, ShardOffset{1}));
}

TEST(JoinedOrder, EndsWhereItIsToEndInTheMidstOfACut) {
  const auto cuts = joined({part_of({numbered(1, 1, {segment_of(0, 1, 1, 4), segment_of(1, 1, 1, 4)})}, {0, 1})}, 5);

  ASSERT_TRUE(cuts);
  EXPECT_THAT(cuts->front().segments, ElementsAre(segment_of(0, 1, 1, 4), segment_of(1, 1, 1, 3)));
  EXPECT_EQ(cuts->back().last_position(), GlobalPosition{5});
}

TEST(JoinedOrder, RefusesPositionsThatNobodyOrTwoHave) {
  const auto all = [] { return numbered(1, 1, {segment_of(0, 1, 1, 3), segment_of(1, 1, 1, 3)}); };

  const auto none = joined({part_of({all()}, {0}), part_of({}, {1})}, 4);
  const auto beyond = joined({part_of({all()}, {0, 1})}, 5);
  const auto two = joined({part_of({all()}, {0, 1}), part_of({numbered(1, 2, {segment_of(2, 1, 1, 2)})}, {2})}, 4);

  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::corruption);
  EXPECT_THAT(none.error().what, HasSubstr("positions 3 to 4 are in none of them"));
  ASSERT_FALSE(beyond);
  EXPECT_THAT(beyond.error().what, HasSubstr("position 5 is in none"));
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().what, HasSubstr("position 2 is in two of them"));
}

TEST(JoinedOrder, RefusesCutsWhoseNumbersDoNotAscend) {
  const auto cuts = joined({part_of({numbered(7, 1, {segment_of(0, 1, 1, 2)})}, {0}),
                            part_of({numbered(6, 2, {segment_of(1, 1, 1, 2)})}, {1})},
                           2);

  ASSERT_FALSE(cuts);
  EXPECT_THAT(cuts.error().what, HasSubstr("cut 6 stands behind cut 7"));
}

// However an order is spread over nodes, what they keep is put together to the same sequence of shards.
TEST(JoinedOrder, IsTheOrderItWasSpreadFrom) {
  std::mt19937_64 random(7);
  for (int round = 0; round != 200; ++round) {
    std::vector<Cut> order;
    std::vector<ShardOffset> next(joined_shards, ShardOffset{1});
    GlobalPosition at{1};
    std::vector<std::uint16_t> placed;  // the shard of each position
    for (std::uint64_t n = 1; n != 20; ++n) {
      Cut cut = numbered(n * 2, at.value, {});
      for (auto left = random() % 5; left != 0; --left) {
        const auto shard = static_cast<std::uint16_t>(random() % joined_shards);
        Segment segment = segment_of(shard, 1, next[shard].value, next[shard].value + 1 + random() % 4);
        for (auto offset = segment.first; offset < segment.end; ++offset)
          if (random() % 4 == 0)
            segment.refused.push_back(offset);
          else
            placed.push_back(shard);
        next[shard] = segment.end;
        cut.segments.push_back(std::move(segment));
      }
      if (cut.events() == 0) {
        for (const auto& segment : cut.segments) next[segment.shard.value] = segment.first;
        continue;
      }
      at = cut.last_position() + 1;
      order.push_back(std::move(cut));
    }
    std::vector<JoinedOrder::Part> parts;
    std::vector<std::vector<std::uint16_t>> taken(1 + random() % 3);
    for (std::uint16_t shard = 0; shard != joined_shards; ++shard) taken[random() % taken.size()].push_back(shard);
    for (const auto& shards : taken) {
      std::vector<Cut> kept;
      const auto more = random() % joined_shards;  // it keeps that one too, which is taken from another
      for (const auto& cut : order)
        kept.push_back(cut_of_node(cut,
                                   [&](const Segment& segment) {
                                     return segment.shard.value == more ||
                                            std::ranges::find(shards, segment.shard.value) != shards.end();
                                   },
                                   {}));
      parts.push_back(part_of(std::move(kept), shards));
    }

    const auto cuts = joined(std::move(parts), at.value - 1);

    ASSERT_TRUE(cuts) << cuts.error().what;
    std::vector<std::uint16_t> joined_placed;
    std::vector<ShardOffset> offsets(joined_shards, ShardOffset{1});
    std::uint64_t number = 0;
    for (const auto& cut : *cuts) {
      EXPECT_EQ(cut.number, CutNumber{++number}) << "a whole store has no gaps there";
      EXPECT_EQ(decode_cut(encode(cut)), cut);
      for (const auto& segment : cut.segments) {
        EXPECT_EQ(segment.first, offsets[segment.shard.value]);
        offsets[segment.shard.value] = segment.end;
        joined_placed.insert(joined_placed.end(), segment.events(), segment.shard.value);
      }
    }
    EXPECT_EQ(joined_placed, placed);
  }
}

}  // namespace
}  // namespace evershard::sharding
