#include "evershard/cli/server/part_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evershard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<ShardId> shards(std::initializer_list<std::uint16_t> numbers) {
  std::vector<ShardId> made;
  for (const auto number : numbers) made.push_back(ShardId{number});
  return made;
}

PartOffer offer(std::uint32_t node, std::uint64_t watermark, std::initializer_list<std::uint16_t> numbers,
                std::uint32_t failures = 0) {
  return {node, GlobalPosition{watermark}, shards(numbers), failures};
}

TEST(PartPlan, AsksOneNodeThatHasEverything) {
  EXPECT_THAT(plan_parts({offer(1, 9, {0, 1}), offer(2, 7, {2, 1, 0}), offer(3, 8, {0, 1, 2})}, shards({0, 1, 2})),
              ElementsAre(PlannedPart{3, shards({0, 1, 2})}));
}

TEST(PartPlan, TakesEachShardOnce) {
  EXPECT_THAT(plan_parts({offer(1, 9, {0, 1}), offer(2, 9, {1, 2, 3}), offer(3, 8, {3, 0})}, shards({0, 1, 2, 3})),
              ElementsAre(PlannedPart{2, shards({1, 2, 3})}, PlannedPart{1, shards({0})}));
}

TEST(PartPlan, AsksWhoFailedOnlyForWhatNobodyElseHas) {
  EXPECT_THAT(plan_parts({offer(1, 9, {0, 1, 2}, 2), offer(2, 3, {1, 2})}, shards({0, 1, 2})),
              ElementsAre(PlannedPart{2, shards({1, 2})}, PlannedPart{1, shards({0})}));
}

TEST(PartPlan, LeavesOutWhatNobodyOffers) {
  EXPECT_THAT(plan_parts({offer(1, 9, {5})}, shards({0, 5})), ElementsAre(PlannedPart{1, shards({5})}));
  EXPECT_THAT(plan_parts({}, shards({0})), IsEmpty());
  EXPECT_THAT(plan_parts({offer(1, 9, {5})}, {}), IsEmpty());
}

TEST(PartPlan, CountsWhoKeepsAShardAndNotWhoIsGivenIt) {
  ClusterStatus status;
  status.shards.resize(3);
  status.shards[0].node = 1;
  status.shards[1].node = 1;
  status.shards[1].replicas = {1, 2};
  status.shards[1].learners = {3};
  status.shards[2].node = 2;
  status.shards[2].replicas = {2, 3};

  EXPECT_EQ(kept_by(status, 1), shards({0, 1}));
  EXPECT_EQ(kept_by(status, 2), shards({1, 2}));
  EXPECT_EQ(kept_by(status, 3), shards({2}));
}

}  // namespace
}  // namespace evershard::cli
