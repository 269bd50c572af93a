// What a coordinator says of changes: causes, lengths, and how much of it is kept.

#include "evershard/cluster/order/cluster_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evershard::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Cause = ClusterChange::Cause;

class ClusterLogs : public testing::Test {
 protected:
  ClusterLogs() {
    state_.shards.resize(4);
    for (auto& shard : state_.shards) {
      shard.node = 1;
      shard.replicas = {2, {1, 2, 3}};
    }
  }
  [[nodiscard]] ClusterLog::Now at(milliseconds time) const {
    return {began_ + time, Timestamp{1'000'000'000 + time.count() * 1'000}};
  }
  static sharding::Cut opens(std::vector<std::uint16_t> shards, std::uint32_t node) {
    sharding::Cut cut;
    for (const auto shard : shards) cut.openings.push_back({ShardId{shard}, Epoch{2}, node, ShardOffset{1}});
    return cut;
  }
  static sharding::Cut sets(std::uint16_t shard, sharding::ReplicaSet set) {
    sharding::Cut cut;
    cut.replicas.push_back({ShardId{shard}, std::move(set)});
    return cut;
  }
  [[nodiscard]] std::vector<ClusterChange> changes() const {  // but the first one
    return {log_.changes().begin() + 1, log_.changes().end()};
  }

  ClusterLog::Time began_{};
  sharding::CutLogState state_;
  ClusterLog log_{at(milliseconds(0))};
};

TEST_F(ClusterLogs, BeginWithTheLeadership) {
  ASSERT_THAT(log_.changes(), SizeIs(1));
  EXPECT_EQ(log_.changes().front(), (ClusterChange{at(milliseconds(0)).clock, Cause::leads, 0, 0, {}, 0}));
}

TEST_F(ClusterLogs, SayHowLongShardsHadNoWriterAndWhy) {
  log_.stops(began_ + milliseconds(100), ShardId{0}, Cause::node_silent);
  log_.stops(began_ + milliseconds(400), ShardId{1}, Cause::node_silent);
  EXPECT_EQ(log_.without_writer(began_ + milliseconds(1'000), ShardId{0}), milliseconds(900));
  EXPECT_EQ(log_.why(ShardId{0}), Cause::node_silent);

  log_.stored(at(milliseconds(2'100)), state_, opens({0, 1}, 3));

  EXPECT_THAT(changes(),
              ElementsAre(ClusterChange{
                  at(milliseconds(2'100)).clock, Cause::node_silent, 1, 3, {ShardId{0}, ShardId{1}}, 2'000}));
  EXPECT_EQ(log_.without_writer(began_ + seconds(5), ShardId{0}), std::nullopt);
}

// The openings of one fail-over may be in several cuts.
TEST_F(ClusterLogs, TakeWhatOneCauseDoesAtATimeAsOneChange) {
  for (std::uint16_t s = 0; s != 3; ++s) log_.stops(began_, ShardId{s}, Cause::node_lost);
  log_.stored(at(milliseconds(50)), state_, opens({2}, 3));
  log_.stored(at(milliseconds(60)), state_, opens({1}, 2));
  log_.stored(at(milliseconds(70)), state_, opens({0}, 3));

  EXPECT_THAT(
      changes(),
      ElementsAre(ClusterChange{at(milliseconds(50)).clock, Cause::node_lost, 1, 3, {ShardId{0}, ShardId{2}}, 70},
                  ClusterChange{at(milliseconds(60)).clock, Cause::node_lost, 1, 2, {ShardId{1}}, 60}));
  EXPECT_THAT(log_.counts(),
              ElementsAre(ClusterStatus::Count{Cause::leads, 1, 0}, ClusterStatus::Count{Cause::node_lost, 1, 70}))
      << "one node was lost";

  log_.stops(began_ + seconds(9), ShardId{3}, Cause::node_lost);
  log_.stored(at(seconds(10)), state_, opens({3}, 3));
  EXPECT_THAT(changes(), SizeIs(3)) << "much later it is another one";
}

TEST_F(ClusterLogs, TakeTheLastCauseAndTheFirstTime) {
  log_.stops(began_ + seconds(1), ShardId{0}, Cause::drained);
  log_.stops(began_ + seconds(2), ShardId{0}, Cause::node_lost);
  log_.stored(at(seconds(3)), state_, opens({0}, 2));

  ASSERT_THAT(changes(), SizeIs(1));
  EXPECT_EQ(changes()[0].cause, Cause::node_lost);
  EXPECT_EQ(changes()[0].without_writer_ms, 2'000u);
}

TEST_F(ClusterLogs, SayThatAWriterIsBackButNotThatAHandOverDidNotComeAbout) {
  log_.stops(began_, ShardId{0}, Cause::balanced);
  log_.goes_on(at(milliseconds(250)), ShardId{0}, 1);
  EXPECT_THAT(changes(), IsEmpty());

  log_.stops(began_ + seconds(1), ShardId{0}, Cause::node_lost);
  log_.goes_on(at(milliseconds(1'700)), ShardId{0}, 1);
  log_.goes_on(at(milliseconds(1'800)), ShardId{0}, 1);

  ASSERT_THAT(changes(), SizeIs(1));
  EXPECT_EQ(changes()[0].from, 1u);
  EXPECT_EQ(changes()[0].to, 1u);
  EXPECT_EQ(changes()[0].without_writer_ms, 700u);
  EXPECT_EQ(sentence_of(changes()[0]), "node 1 was lost, and is back");
}

TEST_F(ClusterLogs, SayNothingOfShardsThatAreGivenOut) {
  for (auto& shard : state_.shards) shard = {};

  auto cut = opens({0}, 1);
  cut.replicas = sets(0, {2, {1, 2, 3}}).replicas;
  log_.stored(at(seconds(1)), state_, cut);

  EXPECT_THAT(changes(), IsEmpty());
}

// Its writer was started again while no coordinator led.
TEST_F(ClusterLogs, CountFromTheLeadershipWhatNobodyMissed) {
  log_.stored(at(milliseconds(300)), state_, opens({0}, 1));

  EXPECT_THAT(changes(),
              ElementsAre(ClusterChange{at(milliseconds(300)).clock, Cause::node_lost, 1, 1, {ShardId{0}}, 300}));
}

TEST_F(ClusterLogs, SayWhoLearnsWhoCountsAndWhoLeaves) {
  log_.stored(at(seconds(10)), state_, sets(0, {2, {1, 2, 3}, {4}}));
  state_.shards[0].replicas = {2, {1, 2, 3}, {4}};
  log_.stored(at(seconds(20)), state_, sets(0, {2, {1, 2, 3, 4}, {4}}));
  state_.shards[0].replicas = {2, {1, 2, 3, 4}, {4}};
  log_.stored(at(seconds(30)), state_, sets(0, {2, {2, 3, 4}, {4}}));

  EXPECT_THAT(changes(), ElementsAre(ClusterChange{at(seconds(10)).clock, Cause::learns, 0, 4, {ShardId{0}}, 0},
                                     ClusterChange{at(seconds(20)).clock, Cause::learned, 0, 4, {ShardId{0}}, 0},
                                     ClusterChange{at(seconds(30)).clock, Cause::left, 1, 0, {ShardId{0}}, 0}));
}

TEST_F(ClusterLogs, KeepTheNewestAndCountAll) {
  for (std::size_t i = 1; i <= 500; ++i) {
    log_.stops(at(seconds(2 * i)).at, ShardId{0}, Cause::assigned);
    log_.stored(at(seconds(2 * i) + milliseconds(3)), state_, opens({0}, 2));
  }

  ASSERT_THAT(log_.changes(), SizeIs(ClusterLog::changes_max));
  EXPECT_EQ(log_.changes().back().at, at(seconds(1'000) + milliseconds(3)).clock);
  EXPECT_THAT(log_.counts(),
              ElementsAre(ClusterStatus::Count{Cause::leads, 1, 0}, ClusterStatus::Count{Cause::assigned, 500, 1'500}));
}

TEST_F(ClusterLogs, NameNoMoreThanSoManyShards) {
  state_.shards.resize(5'000, state_.shards[0]);
  std::vector<std::uint16_t> all;
  for (std::uint16_t s = 0; s != 5'000; ++s) all.push_back(s);
  for (std::size_t i = 1; i <= 10; ++i) log_.stored(at(seconds(2 * i)), state_, opens(all, 2));

  EXPECT_THAT(log_.changes(), SizeIs(ClusterLog::shards_max / 5'000));
}

}  // namespace
}  // namespace evershard::cluster
