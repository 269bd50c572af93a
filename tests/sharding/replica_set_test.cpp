// Replica sets in cuts: what the cut log takes, and for whom it keeps a cut.

#include "evershard/sharding/replica_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/sharding/cut_log_rules.hpp"
#include "tests/sharding/cuts.hpp"

namespace evershard::sharding {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ReplicaSets : public ::testing::Test {
 protected:
  void SetUp() override { rules.leads({Epoch{1}, {}}); }
  [[nodiscard]] Cut next(std::vector<NewReplicas> replicas, std::vector<Opening> openings = {},
                         std::vector<Segment> segments = {}) const {
    auto cut = next_cut(rules.state(), std::move(segments), std::move(openings));
    cut.replicas = std::move(replicas);
    return cut;
  }
  void take(const Cut& cut) {
    const auto follows = rules.check_put(cut);
    ASSERT_TRUE(follows) << follows.error().what;
    rules.taken(cut);
  }
  [[nodiscard]] std::string refusal_of(const Cut& cut) const {
    const auto follows = rules.check_put(cut);
    return follows ? "none" : follows.error().what;
  }
  [[nodiscard]] std::vector<CutNumber> given_up(const std::vector<HeldBy>& held) const {
    return rules.fold(Epoch{1}, held).value().given_up;
  }

  CutLogRules rules{4};
};

TEST_F(ReplicaSets, AreKeptInTheState) {
  ASSERT_NO_FATAL_FAILURE(take(next({{ShardId{1}, {2, {3, 5, 9}}}}, {opening_of(1, 2, 5, 1)})));

  const auto& shard = rules.state().shards[1];
  EXPECT_EQ(shard.replicas, (ReplicaSet{2, {3, 5, 9}}));
  EXPECT_EQ(shard.node, 5u);
  EXPECT_THAT(shard.keepers(), ElementsAre(3, 5, 9));
  EXPECT_THAT(rules.state().shards[0].keepers(), ElementsAre(0));
}

TEST_F(ReplicaSets, ThatAreNoneAreRefused) {
  EXPECT_THAT(refusal_of(next({{ShardId{4}, {1, {1}}}})), HasSubstr("of 4"));
  EXPECT_THAT(refusal_of(next({{ShardId{1}, {1, {}}}})), HasSubstr("a replica set that is none"));
  EXPECT_THAT(refusal_of(next({{ShardId{1}, {0, {1}}}})), HasSubstr("a replica set that is none"));
  EXPECT_THAT(refusal_of(next({{ShardId{1}, {1, {0, 1}}}})), HasSubstr("a replica set that is none"));
  EXPECT_THAT(refusal_of(next({{ShardId{1}, {1, {2, 2}}}})), HasSubstr("a replica set that is none"));
  EXPECT_THAT(refusal_of(next({{ShardId{1}, {1, {3, 2}}}})), HasSubstr("a replica set that is none"));
}

TEST_F(ReplicaSets, AreWhoAShardIsOpenedFor) {
  EXPECT_THAT(refusal_of(next({{ShardId{1}, {2, {3, 5}}}}, {opening_of(1, 2, 4, 1)})),
              HasSubstr("node 4, which is not in its replica set"));
  ASSERT_NO_FATAL_FAILURE(take(next({{ShardId{1}, {2, {3, 5}}}}, {opening_of(1, 2, 3, 1)})));
  EXPECT_THAT(refusal_of(next({}, {opening_of(1, 3, 4, 1)})), HasSubstr("node 4, which is not in its replica set"));
  EXPECT_EQ(refusal_of(next({{ShardId{1}, {2, {3, 4}}}}, {opening_of(1, 3, 4, 1)})), "none")
      << "sets come before openings";
}

TEST_F(ReplicaSets, AllHoldACutBeforeItIsFolded) {
  ASSERT_NO_FATAL_FAILURE(take(next({{ShardId{1}, {2, {3, 5, 9}}}}, {opening_of(1, 2, 5, 1)})));
  ASSERT_NO_FATAL_FAILURE(take(next({}, {}, {segment_of(1, 2, 1, 4)})));

  EXPECT_THAT(given_up({{5, CutNumber{2}}}), IsEmpty()) << "its writer alone";
  EXPECT_THAT(given_up({{5, CutNumber{2}}, {3, CutNumber{2}}}), IsEmpty()) << "a quorum";
  EXPECT_THAT(given_up({{5, CutNumber{2}}, {3, CutNumber{2}}, {9, CutNumber{1}}}), ElementsAre(CutNumber{1}));
  EXPECT_THAT(given_up({{5, CutNumber{2}}, {3, CutNumber{2}}, {9, CutNumber{2}}}),
              ElementsAre(CutNumber{1}, CutNumber{2}));
}

TEST_F(ReplicaSets, ThatGrewOrShrankSayWhoIsWaitedFor) {
  ASSERT_NO_FATAL_FAILURE(take(next({{ShardId{1}, {1, {3}}}}, {opening_of(1, 2, 3, 1)}, {segment_of(1, 2, 1, 4)})));
  ASSERT_NO_FATAL_FAILURE(take(next({{ShardId{1}, {2, {3, 5}}}})));

  EXPECT_THAT(given_up({{3, CutNumber{2}}}), IsEmpty());
  EXPECT_THAT(given_up({{3, CutNumber{2}}, {5, CutNumber{2}}}), ElementsAre(CutNumber{1}, CutNumber{2}));
  ASSERT_NO_FATAL_FAILURE(take(next({{ShardId{1}, {1, {3}}}})));
  EXPECT_THAT(given_up({{3, CutNumber{3}}}), ElementsAre(CutNumber{1}, CutNumber{2}, CutNumber{3}));
}

}  // namespace
}  // namespace evershard::sharding
