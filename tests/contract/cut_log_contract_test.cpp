// What every cut log promises, run against those that an executable instantiates it with.

#include "tests/contract/cut_log_contract.hpp"

#include <gmock/gmock.h>

#include <random>
#include <vector>

#include "tests/sharding/cuts.hpp"

namespace evershard::storage {
namespace {

using sharding::Cut;
using sharding::CutLogState;
using sharding::HeldBy;
using sharding::next_cut;
using sharding::opening_of;
using sharding::segment_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::uint64_t> numbers(const sharding::CutsFound& found) {
  std::vector<std::uint64_t> numbers;
  for (const Cut& cut : found.cuts) numbers.push_back(cut.number.value);
  return numbers;
}

TEST_P(CutLogContract, BeginsWithNothing) {
  EXPECT_EQ(log().state(), CutLogState(shards));
  EXPECT_THAT(log().cuts_after(CutNumber{0}, all_bytes)->cuts, IsEmpty());

  const auto led = log().lead();

  ASSERT_TRUE(led);
  EXPECT_EQ(led->epoch, Epoch{1});
}

TEST_P(CutLogContract, KeepsItsStateOverEveryReopening) {
  put_five(log());
  const CutLogState before = log().state();

  reopen();

  EXPECT_EQ(log().state(), before);
  EXPECT_EQ(before.last_cut, CutNumber{5});
  EXPECT_EQ(before.watermark, GlobalPosition{11});
  EXPECT_EQ(before.shards[0],
            (CutLogState::Shard{Epoch{1}, 1, ShardOffset{5}, GlobalPosition{5}, Epoch{1}, ShardOffset{0}}));
  EXPECT_EQ(before.shards[1],
            (CutLogState::Shard{Epoch{1}, 2, ShardOffset{9}, GlobalPosition{11}, Epoch{1}, ShardOffset{0}}));
  EXPECT_EQ(before.shards[2], CutLogState::Shard{});
  EXPECT_EQ(log().lead()->epoch, Epoch{2});
}

TEST_P(CutLogContract, TakesRecordsOfTheNewestEpochOnly) {
  ASSERT_TRUE(log().lead());
  const Cut of_the_first = next_cut(log().state(), {}, {opening_of(0, 1, 1, 1)});
  ASSERT_TRUE(log().lead());

  const auto stale = log().put(of_the_first);

  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, ErrorCode::fenced);
  EXPECT_EQ(stale.error().what, "the cut log is led under epoch 2, not under epoch 1");
  EXPECT_EQ(log().state().last_cut, CutNumber{0});
  reopen();
  EXPECT_EQ(log().put(of_the_first).error().code, ErrorCode::fenced) << "the epoch is kept";
}

TEST_P(CutLogContract, KeepsWhoLed) {
  ASSERT_TRUE(log().lead());
  ASSERT_TRUE(log().put(next_cut(log().state(), {}, {opening_of(0, 1, 1, 1)})));
  reopen();
  ASSERT_TRUE(log().lead());
  ASSERT_TRUE(log().fold(Epoch{2}, {}));
  const auto before = log().state().leaderships;
  reopen();

  const auto& led = log().state().leaderships;
  ASSERT_EQ(led.size(), 2u);
  EXPECT_EQ(led, before);
  EXPECT_EQ(led[0].epoch, Epoch{1});
  EXPECT_EQ(led[1].epoch, Epoch{2});
  EXPECT_TRUE(led[0].identity.given());
  EXPECT_TRUE(led[1].identity.given());
  EXPECT_NE(led[0].identity, led[1].identity);
}

TEST_P(CutLogContract, TakesNothingBeforeSomebodyLeads) {
  EXPECT_EQ(log().put(next_cut(log().state(), {})).error().code, ErrorCode::fenced);
  EXPECT_EQ(log().fold(Epoch{0}, {}).error().code, ErrorCode::fenced);
}

TEST_P(CutLogContract, TakesTheNextNumberOnly) {
  put_five(log());
  Cut again = next_cut(log().state(), {});
  again.number = CutNumber{5};
  Cut after_next = next_cut(log().state(), {});
  after_next.number = CutNumber{7};

  EXPECT_EQ(log().put(again).error().code, ErrorCode::fenced);
  EXPECT_EQ(log().put(after_next).error().code, ErrorCode::corruption);
  EXPECT_EQ(log().state().last_cut, CutNumber{5});
  EXPECT_TRUE(log().put(next_cut(log().state(), {})));
}

TEST_P(CutLogContract, TakesNothingThatDoesNotJoinOn) {
  put_five(log());
  const CutLogState before = log().state();
  Cut hole = next_cut(before, {});
  hole.first_position = before.watermark + 2;
  auto losing = opening_of(0, 2, 1, 5);
  losing.lost_from = ShardOffset{3};
  losing.lost_until = ShardOffset{4};
  for (const Cut& bad : {hole, next_cut(before, {segment_of(0, 1, 6, 7)}), next_cut(before, {segment_of(0, 1, 4, 7)}),
                         next_cut(before, {segment_of(0, 2, 5, 6)}), next_cut(before, {segment_of(3, 1, 1, 2)}),
                         next_cut(before, {}, {opening_of(0, 1, 1, 5)}), next_cut(before, {}, {opening_of(0, 2, 1, 4)}),
                         next_cut(before, {}, {opening_of(0, 2, 0, 5)}), next_cut(before, {}, {opening_of(3, 1, 1, 1)}),
                         next_cut(before, {}, {losing})}) {
    const auto refused = log().put(bad);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::corruption);
    EXPECT_THAT(refused.error().what, HasSubstr("cut 6 does not follow: "));
  }
  EXPECT_EQ(log().state(), before);
}

TEST_P(CutLogContract, GivesBackWhatItTook) {
  put_five(log());
  reopen();

  const auto all = log().cuts_after(CutNumber{0}, all_bytes);
  const auto some = log().cuts_after(CutNumber{3}, all_bytes);
  const auto one = log().cuts_after(CutNumber{1}, 1);

  ASSERT_TRUE(all && some && one);
  EXPECT_THAT(numbers(*all), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(all->cuts[1].segments, (std::vector{segment_of(0, 1, 1, 4, {ShardOffset{2}}), segment_of(1, 1, 1, 3)}));
  EXPECT_EQ(all->folded, std::nullopt);
  EXPECT_FALSE(all->more);
  EXPECT_THAT(numbers(*some), ElementsAre(4, 5));
  EXPECT_THAT(numbers(*one), ElementsAre(2)) << "at least one, however small the answer is to be";
  EXPECT_TRUE(one->more);
  EXPECT_THAT(numbers(*log().cuts_after(CutNumber{9}, all_bytes)), IsEmpty());
}

TEST_P(CutLogContract, FoldsWhatTheOwnersHold) {
  put_five(log());
  const CutLogState before = log().state();
  const HeldBy held[] = {{1, CutNumber{3}}, {2, CutNumber{2}}, {7, CutNumber{5}}};

  ASSERT_TRUE(log().fold(Epoch{1}, held));
  reopen();

  const auto found = log().cuts_after(CutNumber{0}, all_bytes);
  ASSERT_TRUE(found && found->folded);
  EXPECT_THAT(numbers(*found), ElementsAre(4)) << "node 2 does not hold it; cut 5 names nobody's shard";
  EXPECT_EQ(found->folded->last_cut, CutNumber{5});
  EXPECT_EQ(found->folded->watermark, GlobalPosition{11});
  EXPECT_EQ(log().state().shards[0].folded, ShardOffset{4});
  EXPECT_EQ(log().state().shards[1].folded, ShardOffset{2}) << "what cut 4 covers is there";
  EXPECT_EQ(log().state().shards[1].next, before.shards[1].next);
  EXPECT_EQ(log().state().epoch, Epoch{1});
  EXPECT_TRUE(log().put(next_cut(log().state(), {segment_of(0, 1, 5, 6)}))) << "it goes on where it was";
  EXPECT_THAT(numbers(*log().cuts_after(CutNumber{4}, all_bytes)), ElementsAre(6));
}

TEST_P(CutLogContract, KeepsWhatNamesADeadShardAndNothingElse) {
  put_five(log());
  const HeldBy held[] = {{1, CutNumber{5}}};

  ASSERT_TRUE(log().fold(Epoch{1}, held));

  EXPECT_THAT(numbers(*log().cuts_after(CutNumber{0}, all_bytes)), ElementsAre(1, 2, 4));
  EXPECT_EQ(log().state().shards[0].folded, ShardOffset{4}) << "cut 3, whatever is kept before it";
  EXPECT_EQ(log().state().shards[1].folded, ShardOffset{0});
}

TEST_P(CutLogContract, SaysWhetherItsAnswerReachesTheCheckpoint) {
  put_five(log());
  ASSERT_TRUE(log().fold(Epoch{1}, std::vector<HeldBy>{{1, CutNumber{5}}}));
  ASSERT_TRUE(log().put(next_cut(log().state(), {segment_of(0, 1, 5, 6)})));

  const auto first = log().cuts_after(CutNumber{1}, 1);
  const auto second = log().cuts_after(CutNumber{2}, 1);
  const auto third = log().cuts_after(CutNumber{4}, 1);
  const auto fourth = log().cuts_after(CutNumber{5}, 1);

  EXPECT_THAT(numbers(*first), ElementsAre(2));
  EXPECT_TRUE(first->folded);
  EXPECT_FALSE(first->reaches_checkpoint()) << "cut 4 is still to come";
  EXPECT_THAT(numbers(*second), ElementsAre(4));
  EXPECT_FALSE(second->reaches_checkpoint());
  EXPECT_THAT(numbers(*third), ElementsAre(6));
  EXPECT_TRUE(third->reaches_checkpoint());
  EXPECT_EQ(fourth->folded, std::nullopt);
}

TEST_P(CutLogContract, FoldsForTheNewestEpochOnly) {
  put_five(log());
  ASSERT_TRUE(log().lead());

  EXPECT_EQ(log().fold(Epoch{1}, std::vector<HeldBy>{{1, CutNumber{5}}}).error().code, ErrorCode::fenced);
  EXPECT_EQ(log().cuts_after(CutNumber{0}, all_bytes)->folded, std::nullopt);
}

TEST_P(CutLogContract, KeepsALossThatWasAccepted) {
  put_five(log());
  ASSERT_TRUE(log().fold(Epoch{1}, std::vector<HeldBy>{{1, CutNumber{5}}, {2, CutNumber{5}}}));
  auto losing = opening_of(0, 2, 2, 5);
  losing.lost_from = ShardOffset{3};
  losing.lost_until = ShardOffset{5};

  ASSERT_TRUE(log().put(next_cut(log().state(), {}, {losing})));
  reopen();

  EXPECT_THAT(log().cuts_after(CutNumber{5}, all_bytes)->cuts.at(0).openings, ElementsAre(losing));
  CutLogState::Shard lost{
      Epoch{2}, 2, ShardOffset{5}, GlobalPosition{5}, Epoch{2}, ShardOffset{4}, {{Epoch{2}, ShardOffset{3}}}};
  EXPECT_EQ(log().state().shards[0], lost);
  ASSERT_TRUE(log().fold(Epoch{1}, std::vector<HeldBy>{{1, CutNumber{6}}, {2, CutNumber{6}}}));
  reopen();
  EXPECT_EQ(log().state().shards[0], lost) << "the cut that says so is folded";
}

TEST_P(CutLogContract, IsTheSameLogWhateverItGoesThrough) {
  std::vector<Cut> of_all_seeds;
  for (std::uint64_t seed = 1; seed != 1 + static_cast<std::uint64_t>(GetParam().seeds); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<Cut> all;
    ASSERT_TRUE(log().lead());
    const auto first = log().state().last_cut;
    std::uint64_t held_1 = 0, held_2 = 0;
    for (int step = 0; step != 60; ++step) {
      const auto& of = log().state().shards;
      switch (random() % 8) {
        case 0:
          reopen();
          break;
        case 1:
          ASSERT_TRUE(log().lead());
          break;
        case 2:
          held_1 = first.value + random() % (all.size() + 1);
          held_2 = first.value + random() % (all.size() + 1);
          ASSERT_TRUE(
              log().fold(log().state().epoch, std::vector<HeldBy>{{1, CutNumber{held_1}}, {2, CutNumber{held_2}}}));
          break;
        default: {
          const auto shard = static_cast<std::uint16_t>(random() % 3);
          const auto next = of[shard].next.value;
          std::vector<sharding::Opening> openings;
          std::vector<sharding::Segment> segments;
          if (of[shard].epoch.value == 0 || random() % 4 == 0) {
            openings.push_back(opening_of(shard, of[shard].epoch.value + 1,
                                          1 + static_cast<std::uint32_t>(random() % 2), next + random() % 3));
          } else {
            segments.push_back(segment_of(shard, of[shard].epoch.value, next, next + 1 + random() % 5));
          }
          all.push_back(next_cut(log().state(), segments, openings));
          of_all_seeds.push_back(all.back());
          ASSERT_TRUE(log().put(all.back()));
        }
      }
      const auto found = log().cuts_after(first, all_bytes);
      ASSERT_TRUE(found);
      // What is there is what was put; what is not was folded, and is said to be.
      auto at = all.begin();
      for (const Cut& cut : found->cuts) {
        for (; at != all.end() && at->number != cut.number; ++at)
          ASSERT_TRUE(found->folded && at->number <= found->folded->last_cut);
        ASSERT_NE(at, all.end());
        ASSERT_EQ(cut, *at++);
      }
      for (; at != all.end(); ++at) ASSERT_TRUE(found->folded && at->number <= found->folded->last_cut);
      const auto there = log().cuts_after(CutNumber{0}, all_bytes);
      std::vector<ShardOffset> folded(3);
      for (const Cut& cut : of_all_seeds) {
        if (std::ranges::binary_search(there->cuts, cut.number, {}, &Cut::number)) continue;
        for (const auto& segment : cut.segments) folded[segment.shard.value] = segment.end - 1;
      }
      for (std::size_t shard = 0; shard != folded.size(); ++shard)
        ASSERT_EQ(log().state().shards[shard].folded, folded[shard]) << "of shard " << shard;
      if (!all.empty()) {
        ASSERT_EQ(log().state().watermark, all.back().last_position());
      }
    }
  }
}

}  // namespace
}  // namespace evershard::storage
