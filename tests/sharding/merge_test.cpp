#include "evershard/sharding/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace evershard::sharding {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto forwards = Direction::forwards;
constexpr auto backwards = Direction::backwards;

RecordedEvent event(std::uint16_t shard, std::uint64_t position) {
  RecordedEvent e;
  e.shard = ShardId{shard};
  e.position = GlobalPosition{position};
  return e;
}

ShardPage page(std::uint16_t shard, const std::vector<std::uint64_t>& positions, std::uint64_t complete_to,
               bool end = false) {
  ShardPage p{ShardId{shard}, {}, GlobalPosition{complete_to}, end};
  for (const std::uint64_t position : positions) p.events.push_back(event(shard, position));
  return p;
}

std::vector<std::uint64_t> drain(PageMerge& merge) {
  std::vector<std::uint64_t> positions;
  while (auto e = merge.next()) positions.push_back(e->position.value);
  return positions;
}

TEST(PageMerge, WaitsForEveryShardAtFirst) {
  PageMerge merge({ShardId{2}, ShardId{0}, ShardId{2}}, forwards);

  EXPECT_EQ(merge.next(), std::nullopt);
  EXPECT_THAT(merge.waiting_for(), ElementsAre(ShardId{0}, ShardId{2}));
  EXPECT_EQ(merge.complete_to(), GlobalPosition{0});
  EXPECT_FALSE(merge.finished());
}

TEST(PageMerge, GivesOnlyWhatIsCertain) {
  PageMerge merge({ShardId{0}, ShardId{1}}, forwards);

  ASSERT_TRUE(merge.add(page(0, {1, 4, 9}, 9)));
  EXPECT_THAT(drain(merge), IsEmpty());
  EXPECT_THAT(merge.waiting_for(), ElementsAre(ShardId{1}));
  ASSERT_TRUE(merge.add(page(1, {2}, 6)));

  EXPECT_THAT(drain(merge), ElementsAre(1, 2, 4));
  EXPECT_EQ(merge.complete_to(), GlobalPosition{6});
  EXPECT_THAT(merge.waiting_for(), ElementsAre(ShardId{1}));
}

TEST(PageMerge, GoesOnPastAShardThatEnded) {
  PageMerge merge({ShardId{0}, ShardId{1}}, forwards);

  ASSERT_TRUE(merge.add(page(0, {1}, 1, true)));
  ASSERT_TRUE(merge.add(page(1, {2, 5}, 8)));
  EXPECT_THAT(drain(merge), ElementsAre(1, 2, 5));
  EXPECT_FALSE(merge.finished());
  ASSERT_TRUE(merge.add(page(1, {}, 10, true)));

  EXPECT_TRUE(merge.finished());
  EXPECT_THAT(merge.waiting_for(), IsEmpty());
  EXPECT_EQ(merge.complete_to(), GlobalPosition{10});
}

TEST(PageMerge, RunsBackwards) {
  PageMerge merge({ShardId{0}, ShardId{1}}, backwards);

  ASSERT_TRUE(merge.add(page(0, {9, 4, 3}, 3)));
  ASSERT_TRUE(merge.add(page(1, {7}, 5)));
  EXPECT_THAT(drain(merge), ElementsAre(9, 7));
  EXPECT_EQ(merge.complete_to(), GlobalPosition{5});
  ASSERT_TRUE(merge.add(page(1, {}, 1, true)));

  EXPECT_THAT(drain(merge), ElementsAre(4, 3));
  EXPECT_EQ(merge.complete_to(), GlobalPosition{3});
}

TEST(PageMerge, OfNoShardsIsFinished) {
  PageMerge merge({}, forwards);

  EXPECT_TRUE(merge.finished());
  EXPECT_EQ(merge.next(), std::nullopt);
  EXPECT_THAT(merge.waiting_for(), IsEmpty());
}

TEST(PageMerge, RefusesMisuseAndTakesNothingOfIt) {
  PageMerge merge({ShardId{0}, ShardId{1}}, forwards);
  ASSERT_TRUE(merge.add(page(0, {3}, 5)));
  ASSERT_TRUE(merge.add(page(1, {}, 7, true)));
  ShardPage strange = page(0, {8}, 9);
  strange.events[0].shard = ShardId{1};

  const auto what = [&](const ShardPage& p) {
    const auto added = merge.add(p);
    EXPECT_TRUE(!added && added.error().code == ErrorCode::invalid_argument);
    return added ? std::string() : added.error().what;
  };
  EXPECT_THAT(what(page(2, {9}, 9)), HasSubstr("shard 2 was not asked for"));
  EXPECT_THAT(what(page(1, {9}, 9)), HasSubstr("follows its end"));
  EXPECT_THAT(what(page(0, {}, 4)), HasSubstr("complete to position 4, behind"));
  EXPECT_THAT(what(page(0, {5}, 9)), HasSubstr("position 5 out of order"));
  EXPECT_THAT(what(page(0, {6, 6}, 9)), HasSubstr("position 6 out of order"));
  EXPECT_THAT(what(page(0, {6, 10}, 9)), HasSubstr("position 10, beyond"));
  EXPECT_THAT(what(strange), HasSubstr("an event of shard 1 at position 8"));

  ASSERT_TRUE(merge.add(page(0, {6}, 9, true)));
  EXPECT_THAT(drain(merge), ElementsAre(3, 6));
  EXPECT_TRUE(merge.finished());
}

// Pages of any size, in any order, asked for or not: the result is everything, sorted; never an event too early.
TEST(PageMerge, EqualsTheSortedWhole) {
  for (std::uint64_t seed = 1; seed != 1'000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Direction direction = random() % 2 ? forwards : backwards;
    const std::uint16_t shards = static_cast<std::uint16_t>(1 + random() % 6);
    const std::uint64_t last = random() % 60;
    std::vector<std::vector<std::uint64_t>> of(shards);
    std::vector<std::uint64_t> whole;
    std::vector<ShardId> ids;
    for (std::uint64_t p = 1; p <= last; ++p) {
      if (random() % 5 == 0) continue;  // not asked for by the query
      of[random() % shards].push_back(p);
      whole.push_back(p);
    }
    if (direction == backwards) std::reverse(whole.begin(), whole.end());
    for (std::uint16_t s = 0; s != shards; ++s) {
      ids.push_back(ShardId{s});
      if (direction == backwards) std::reverse(of[s].begin(), of[s].end());
    }

    PageMerge merge(ids, direction);
    std::vector<std::size_t> given(shards);
    std::vector<bool> ended(shards);
    std::vector<std::uint64_t> complete(shards, direction == forwards ? 0 : std::numeric_limits<std::uint64_t>::max());
    std::vector<std::uint64_t> merged;
    for (int steps = 0; !merge.finished(); ++steps) {
      ASSERT_LT(steps, 1'000) << "waits for nothing that comes";
      const auto waiting = merge.waiting_for();
      std::size_t s = random() % shards;
      if (!waiting.empty() && random() % 3 != 0) s = waiting[random() % waiting.size()].value;
      if (!ended[s]) {
        std::vector<std::uint64_t> positions;
        for (std::size_t n = random() % 4; n != 0 && given[s] != of[s].size(); --n)
          positions.push_back(of[s][given[s]++]);
        // As far as the last one, or up to the one that follows.
        const bool all = given[s] == of[s].size();
        const std::uint64_t last_one = positions.empty() ? complete[s] : positions.back();
        const std::uint64_t next_one =
            direction == forwards ? (all ? last : of[s][given[s]] - 1) : (all ? 1 : of[s][given[s]] + 1);
        const std::uint64_t to = random() % 2 ? next_one : last_one;
        complete[s] = direction == forwards ? std::max(complete[s], to) : std::min(complete[s], to);
        ended[s] = all && random() % 2 != 0;
        ASSERT_TRUE(merge.add(page(static_cast<std::uint16_t>(s), positions, complete[s], ended[s])));
      }
      if (random() % 2) continue;
      for (const std::uint64_t p : drain(merge)) merged.push_back(p);
      ASSERT_LE(merged.size(), whole.size());
      ASSERT_TRUE(std::equal(merged.begin(), merged.end(), whole.begin()));
      const std::uint64_t complete_to = merge.complete_to().value;
      const auto within = static_cast<std::size_t>(std::count_if(whole.begin(), whole.end(), [&](std::uint64_t p) {
        return direction == forwards ? p <= complete_to : p >= complete_to;
      }));
      ASSERT_EQ(merged.size(), within);
    }
    ASSERT_EQ(merged, whole);
  }
}

}  // namespace
}  // namespace evershard::sharding
