// A cut log made anew from what nodes hold.

#include "evershard/sharding/rebuilt_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evershard::sharding {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

HeldOrder held_order(std::uint32_t node, std::uint64_t cut, std::uint64_t watermark,
                     std::vector<HeldOrder::Shard> shards) {
  return {node, CutNumber{cut}, GlobalPosition{watermark}, Epoch{4}, std::move(shards)};
}
Segment own_segment(std::uint16_t shard, std::uint64_t epoch, std::uint64_t first, std::uint64_t end) {
  return {ShardId{shard}, Epoch{epoch}, ShardOffset{first}, ShardOffset{end}, {}};
}
Cut kept_cut(std::uint64_t number, std::uint64_t first_position, std::vector<Segment> segments) {
  return {CutNumber{number}, Epoch{4}, GlobalPosition{first_position}, std::move(segments), {}};
}
HeldOrder::Shard shard_at(std::uint64_t epoch, std::uint64_t next) { return {Epoch{epoch}, ShardOffset{next}}; }

/// Node 1 has shard 0, node 2 has shard 1: positions 1 to 3 and 6, and 4 to 5.
void add_two_nodes(RebuiltOrder& order) {
  ASSERT_TRUE(order.add(held_order(1, 9, 6, {shard_at(1, 5), shard_at(0, 1), shard_at(0, 1)})));
  ASSERT_TRUE(order.add(held_order(2, 9, 6, {shard_at(0, 1), shard_at(3, 3), shard_at(0, 1)})));
  order.add(1, kept_cut(7, 1, {own_segment(0, 1, 1, 4), Segment::elsewhere(2)}));
  order.add(1, kept_cut(9, 6, {own_segment(0, 1, 4, 5)}));
  order.add(2, kept_cut(7, 1, {Segment::elsewhere(3), own_segment(1, 2, 1, 3)}));
  order.add(2, kept_cut(9, 6, {Segment::elsewhere(1)}));
}

TEST(RebuiltOrder, IsTheStateAllNodesStandAt) {
  RebuiltOrder order(3);
  add_two_nodes(order);
  const auto outcome = order.finish();
  ASSERT_TRUE(outcome) << outcome.error().what;
  const auto& state = outcome->state;
  EXPECT_EQ(state.epoch, Epoch{4});
  EXPECT_EQ(state.last_cut, CutNumber{9});
  EXPECT_EQ(state.watermark, GlobalPosition{6});
  EXPECT_EQ(state.shards[0],
            (CutLogState::Shard{Epoch{1}, 1, ShardOffset{5}, GlobalPosition{6}, Epoch{1}, ShardOffset{4}}));
  EXPECT_EQ(state.shards[1],
            (CutLogState::Shard{Epoch{3}, 2, ShardOffset{3}, GlobalPosition{5}, Epoch{2}, ShardOffset{2}}))
      << "opened again, and not written since";
  EXPECT_EQ(state.shards[2], CutLogState::Shard{});
  EXPECT_THAT(outcome->unowned, ElementsAre(ShardId{2}));
  EXPECT_THAT(outcome->unknown, IsEmpty());
  EXPECT_THAT(outcome->behind, IsEmpty());
}

TEST(RebuiltOrder, NamesPositionsThatNobodyHas) {
  RebuiltOrder order(2);
  ASSERT_TRUE(order.add(held_order(1, 9, 6, {shard_at(1, 5), shard_at(0, 1)})));
  order.add(1, kept_cut(7, 1, {own_segment(0, 1, 1, 4), Segment::elsewhere(2)}));
  order.add(1, kept_cut(9, 6, {own_segment(0, 1, 4, 5)}));
  const auto outcome = order.finish();
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_THAT(outcome->unknown, ElementsAre(Pair(GlobalPosition{4}, GlobalPosition{6})));
  EXPECT_EQ(outcome->unknown_positions, 2u);
}

TEST(RebuiltOrder, NamesPositionsAtItsEndThatANodeHasNotHeardOf) {
  RebuiltOrder order(2);
  ASSERT_TRUE(order.add(held_order(1, 7, 5, {shard_at(1, 4), shard_at(0, 1)})));
  ASSERT_TRUE(order.add(held_order(2, 9, 6, {shard_at(0, 1), shard_at(1, 3)})));
  order.add(1, kept_cut(7, 1, {own_segment(0, 1, 1, 4), Segment::elsewhere(2)}));
  order.add(2, kept_cut(7, 1, {Segment::elsewhere(3), own_segment(1, 1, 1, 3)}));
  order.add(2, kept_cut(9, 6, {Segment::elsewhere(1)}));
  const auto outcome = order.finish();
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_THAT(outcome->unknown, ElementsAre(Pair(GlobalPosition{6}, GlobalPosition{7})));
  EXPECT_THAT(outcome->behind, ElementsAre(Pair(1u, CutNumber{7})));
  EXPECT_EQ(outcome->state.shards[0].next, ShardOffset{4}) << "what it holds behind that gets a new position";
}

// In whatever sequence the directories are given.
TEST(RebuiltOrder, EndsWhereItsFirstNodeDoesIfThatIsAhead) {
  RebuiltOrder order(2);
  auto ahead = held_order(1, 9, 6, {shard_at(1, 4), shard_at(0, 1)});
  ahead.coordinator = Epoch{6};
  ASSERT_TRUE(order.add(ahead));
  ASSERT_TRUE(order.add(held_order(2, 7, 5, {shard_at(0, 1), shard_at(1, 3)})));
  order.add(1, kept_cut(7, 1, {own_segment(0, 1, 1, 4), Segment::elsewhere(2)}));
  order.add(1, kept_cut(9, 6, {Segment::elsewhere(1)}));
  order.add(2, kept_cut(7, 1, {Segment::elsewhere(3), own_segment(1, 1, 1, 3)}));
  const auto outcome = order.finish();
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_EQ(outcome->state.epoch, Epoch{6}) << "nobody who led before leads again";
  EXPECT_EQ(outcome->state.last_cut, CutNumber{9});
  EXPECT_EQ(outcome->state.watermark, GlobalPosition{6});
  EXPECT_THAT(outcome->behind, ElementsAre(Pair(2u, CutNumber{7})));
  EXPECT_THAT(outcome->unknown, ElementsAre(Pair(GlobalPosition{6}, GlobalPosition{7})));
}

// Nothing was ordered on the shard since: its old owner's disk, as long as it is, is not the shard any more.
TEST(RebuiltOrder, KnowsThatAShardWasGivenUp) {
  RebuiltOrder order(2);
  // A cut that gives no position has no row: the disk remembers what was given up apart from it.
  auto held = held_order(2, 4, 4, {shard_at(5, 9), shard_at(4, 7)});
  held.shards[0].losses = {{Epoch{2}, ShardOffset{4}}, {Epoch{3}, ShardOffset{1}}, {Epoch{4}, ShardOffset{6}}};
  held.shards[1].losses = {{Epoch{0}, ShardOffset{2}}};
  ASSERT_TRUE(order.add(held));
  order.add(2, kept_cut(4, 4, {Segment::elsewhere(1)}));
  const auto outcome = order.finish();
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_EQ(outcome->state.shards[0].written, Epoch{4});
  using Losses = std::vector<CutLogState::Shard::Loss>;
  EXPECT_EQ(outcome->state.shards[0].losses, (Losses{{Epoch{3}, ShardOffset{1}}, {Epoch{4}, ShardOffset{6}}}))
      << "the second reaches back further than the first";
  EXPECT_EQ(outcome->state.shards[0].lost_after(Epoch{2}), ShardOffset{1});
  EXPECT_EQ(outcome->state.shards[0].lost_after(Epoch{3}), ShardOffset{6});
  EXPECT_EQ(outcome->state.shards[0].lost_after(Epoch{4}), std::nullopt);
  EXPECT_EQ(outcome->state.shards[1].losses, (Losses{{Epoch{4}, ShardOffset{2}}}))
      << "written before epochs were kept: not later than the shard was opened";
}

TEST(RebuiltOrder, GivesAShardThatMovedToItsNewestWriter) {
  for (const auto& [from, to] : {std::pair(1u, 2u), std::pair(2u, 1u)}) {
    RebuiltOrder order(1);
    ASSERT_TRUE(order.add(held_order(from, 2, 3, {shard_at(1, 4)})));
    ASSERT_TRUE(order.add(held_order(to, 4, 4, {shard_at(2, 5)})));
    order.add(from, kept_cut(2, 1, {own_segment(0, 1, 1, 4)}));
    order.add(to, kept_cut(2, 1, {Segment::elsewhere(3)}));
    Cut taken = kept_cut(4, 4, {own_segment(0, 2, 4, 5)});
    taken.openings.push_back({ShardId{0}, Epoch{2}, to, ShardOffset{4}, ShardOffset{1}, ShardOffset{4}});
    order.add(to, taken);
    const auto outcome = order.finish();
    ASSERT_TRUE(outcome) << outcome.error().what;
    EXPECT_EQ(outcome->state.shards[0],
              (CutLogState::Shard{Epoch{2}, to, ShardOffset{5}, GlobalPosition{4}, Epoch{2}, ShardOffset{4}}));
  }
}

TEST(RebuiltOrder, GoesByWhatTheOwnerOfAShardHasOfIt) {
  RebuiltOrder order(1);
  auto left_behind = held_order(1, 2, 3, {shard_at(1, 9)});
  left_behind.shards[0].losses = {{Epoch{1}, ShardOffset{8}}};
  auto owner = held_order(2, 4, 4, {shard_at(2, 5)});
  owner.shards[0].losses = {{Epoch{2}, ShardOffset{4}}};
  ASSERT_TRUE(order.add(left_behind));
  ASSERT_TRUE(order.add(owner));
  order.add(1, kept_cut(2, 1, {own_segment(0, 1, 1, 4)}));
  order.add(2, kept_cut(4, 4, {own_segment(0, 2, 4, 5)}));

  const auto outcome = order.finish();

  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_EQ(outcome->state.shards[0].next, ShardOffset{5});
  EXPECT_EQ(outcome->state.shards[0].losses, (std::vector<CutLogState::Shard::Loss>{{Epoch{2}, ShardOffset{4}}}));
}

TEST(RebuiltOrder, KnowsUnderWhichEpochAShardWasWrittenLastAndWhereItsEventsEnd) {
  RebuiltOrder order(1);
  ASSERT_TRUE(order.add(held_order(1, 4, 8, {shard_at(3, 7)})));
  order.add(1, kept_cut(2, 1, {own_segment(0, 1, 1, 4)}));
  order.add(1, kept_cut(3, 4, {own_segment(0, 2, 4, 5)}));
  Cut refused = kept_cut(4, 5, {Segment::elsewhere(4), own_segment(0, 3, 5, 7)});
  refused.segments[1].refused = {ShardOffset{5}, ShardOffset{6}};
  order.add(1, refused);

  const auto outcome = order.finish();

  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_EQ(outcome->state.shards[0].written, Epoch{3});
  EXPECT_EQ(outcome->state.shards[0].last_position, GlobalPosition{4}) << "what was refused has no place";
  EXPECT_THAT(outcome->unknown, ElementsAre(Pair(GlobalPosition{5}, GlobalPosition{9})));
}

TEST(RebuiltOrder, RefusesWhatIsNotOfOneHistory) {
  RebuiltOrder twice(3);
  add_two_nodes(twice);
  EXPECT_EQ(twice.add(held_order(2, 9, 6, {shard_at(0, 1), shard_at(3, 3), shard_at(0, 1)})).error().code,
            ErrorCode::invalid_argument);

  RebuiltOrder one_position(3);
  add_two_nodes(one_position);
  ASSERT_TRUE(one_position.add(held_order(3, 9, 6, {shard_at(0, 1), shard_at(0, 1), shard_at(1, 2)})));
  one_position.add(3, kept_cut(7, 1, {Segment::elsewhere(4), own_segment(2, 1, 1, 2)}));
  EXPECT_THAT(one_position.finish().error().what, HasSubstr("position 5"));

  RebuiltOrder one_epoch(3);
  add_two_nodes(one_epoch);
  ASSERT_TRUE(one_epoch.add(held_order(3, 9, 6, {shard_at(1, 1), shard_at(0, 1), shard_at(0, 1)})));
  EXPECT_THAT(one_epoch.finish().error().what, HasSubstr("both have shard 0"));

  RebuiltOrder other_end(3);
  add_two_nodes(other_end);
  ASSERT_TRUE(other_end.add(held_order(3, 9, 7, {shard_at(0, 1), shard_at(0, 1), shard_at(0, 1)})));
  EXPECT_EQ(other_end.finish().error().code, ErrorCode::corruption);
}

}  // namespace
}  // namespace evershard::sharding
