// NamedProcesses: whose words count. docs/internals/replication.md, rule 31.

#include "evershard/cluster/replication/named_processes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evershard::cluster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t follower = 2;
constexpr std::uint64_t frozen = 11, in_its_place = 12;

Members naming(std::uint64_t number, std::vector<NodeProcess> processes, std::uint64_t coordinator = 1) {
  return {Epoch{coordinator}, {}, std::move(processes), number};
}
FollowerTold word(std::uint64_t process, std::uint64_t tail, std::uint16_t shard = 0) {
  return {{{ShardId{shard}, Epoch{3}, ShardOffset{tail}}}, false, process};
}

TEST(NamedProcesses, CountWhomTheCoordinatorTookAHelloOf) {
  NamedProcesses named;
  named.take(naming(1, {{follower, frozen}}));

  EXPECT_TRUE(named.hear(follower, word(frozen, 5)));
  EXPECT_FALSE(named.hear(3, word(frozen, 5))) << "another node's process has that number by chance";
}

// Two processes of one number: the one that thaws has a disk that is in no set any more.
TEST(NamedProcesses, DoNotCountTheOneWhosePlaceWasTaken) {
  NamedProcesses named;
  named.take(naming(1, {{follower, frozen}}));
  EXPECT_TRUE(named.hear(follower, word(frozen, 5)));

  EXPECT_THAT(named.take(naming(2, {{follower, in_its_place}})).lost, ElementsAre(follower));
  EXPECT_FALSE(named.hear(follower, word(frozen, 9)));
  EXPECT_TRUE(named.hear(follower, word(in_its_place, 1))) << "and what that one has is less";
}

TEST(NamedProcesses, CountWhatWasSaidAMomentBeforeTheNaming) {
  NamedProcesses named;
  named.take(naming(1, {{follower, frozen}}));
  named.lost(follower);
  EXPECT_FALSE(named.hear(follower, word(in_its_place, 1)));
  EXPECT_FALSE(named.hear(follower, word(in_its_place, 4, 1)));
  EXPECT_FALSE(named.hear(follower, word(in_its_place, 2)));

  EXPECT_THAT(named.take(naming(2, {{follower, in_its_place}})).named, ElementsAre(follower));
  const auto heard = named.heard(follower);
  ASSERT_TRUE(heard);
  EXPECT_TRUE(heard->again) << "what was under way then is not known";
  ASSERT_EQ(heard->shards.size(), 2u);
  EXPECT_EQ(heard->shards[0].tail, ShardOffset{2});
  EXPECT_EQ(heard->shards[1].tail, ShardOffset{4});
}

TEST(NamedProcesses, ForgetWhatWasSaidInASessionThatIsOver) {
  NamedProcesses named;
  EXPECT_FALSE(named.hear(follower, word(frozen, 5)));
  named.lost(follower);

  EXPECT_THAT(named.take(naming(1, {{follower, frozen}})).named, IsEmpty());
  EXPECT_FALSE(named.heard(follower));
}

// The one before may have let another process take a place, and was gone before this node heard of it.
TEST(NamedProcesses, CountNobodyThatANewCoordinatorHasNotHeardYet) {
  NamedProcesses named;
  named.take(naming(7, {{follower, frozen}, {3, 31}}));
  EXPECT_TRUE(named.hear(follower, word(frozen, 5)));

  EXPECT_THAT(named.take(naming(2, {{3, 31}}, 2)).lost, ElementsAre(follower));
  EXPECT_FALSE(named.hear(follower, word(frozen, 6)));
  EXPECT_THAT(named.take(naming(3, {{follower, frozen}, {3, 31}}, 2)).named, ElementsAre(follower));
  EXPECT_TRUE(named.hear(follower, word(frozen, 7)));
}

TEST(NamedProcesses, TakeNoOlderNaming) {
  NamedProcesses named;
  named.take(naming(2, {{follower, in_its_place}}, 2));

  EXPECT_THAT(named.take(naming(1, {{follower, frozen}}, 2)).lost, IsEmpty());
  EXPECT_THAT(named.take(naming(9, {{follower, frozen}}, 1)).lost, IsEmpty());
  EXPECT_FALSE(named.hear(follower, word(frozen, 5)));
  EXPECT_EQ(named.naming(), 2u);
}

// Neighbouring releases: a follower that does not say who it is, a coordinator that does not say who counts.
TEST(NamedProcesses, CountNodesOfAnEarlierReleaseByTheirNumbers) {
  NamedProcesses named;
  named.take(naming(1, {{follower, frozen}}));
  EXPECT_TRUE(named.hear(follower, word(0, 5)));

  NamedProcesses unnamed;
  unnamed.take(naming(0, {}));
  EXPECT_TRUE(unnamed.hear(follower, word(frozen, 5)));
  EXPECT_EQ(unnamed.naming(), 0u);
}

}  // namespace
}  // namespace evershard::cluster
