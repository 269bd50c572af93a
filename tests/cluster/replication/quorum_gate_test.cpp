// QuorumGate: what is reported, and when.

#include <gtest/gtest.h>

#include "evershard/cluster/replication/quorum_gate.hpp"

namespace evershard::cluster {
namespace {

constexpr ShardId shard{3};
const sharding::ReplicaSet three{2, {1, 2, 3}};
const sharding::ReplicaSet five{3, {1, 2, 3, 4, 5}};

actors::WriterReport report(std::uint64_t first, std::uint32_t events, std::uint64_t epoch = 1) {
  sharding::ReportedAppend append;
  append.events = events;
  return {{shard, Epoch{epoch}, ShardOffset{first}, {append}}};
}

TEST(QuorumGate, KeepsAReportUntilAQuorumHasIt) {
  QuorumGate gate(1);
  QuorumGate::Reports out;

  gate.take(report(1, 2), three, out);
  gate.followed(2, shard, Epoch{1}, ShardOffset{2}, three, out);
  EXPECT_TRUE(out.empty());
  EXPECT_TRUE(gate.waits(shard));

  gate.followed(2, shard, Epoch{1}, ShardOffset{3}, three, out);
  EXPECT_EQ(out.size(), 1u);
  EXPECT_FALSE(gate.waits(shard));
}

TEST(QuorumGate, CountsTheWriterOnce) {
  QuorumGate gate(1);
  QuorumGate::Reports out;

  gate.take(report(1, 1), five, out);
  gate.followed(1, shard, Epoch{1}, ShardOffset{9}, five, out);
  gate.followed(2, shard, Epoch{1}, ShardOffset{9}, five, out);
  EXPECT_TRUE(out.empty());

  gate.followed(5, shard, Epoch{1}, ShardOffset{2}, five, out);
  EXPECT_EQ(out.size(), 1u);
}

TEST(QuorumGate, CountsNobodyOutsideOfTheSet) {
  QuorumGate gate(1);
  QuorumGate::Reports out;

  gate.take(report(1, 1), three, out);
  gate.followed(4, shard, Epoch{1}, ShardOffset{9}, three, out);

  EXPECT_TRUE(out.empty());
}

TEST(QuorumGate, BeginsAnewUnderANewerEpoch) {
  QuorumGate gate(1);
  QuorumGate::Reports out;

  gate.followed(2, shard, Epoch{1}, ShardOffset{9}, three, out);
  gate.take(report(1, 1, 2), three, out);
  EXPECT_TRUE(out.empty());

  gate.followed(3, shard, Epoch{1}, ShardOffset{9}, three, out);
  EXPECT_TRUE(out.empty());
  gate.followed(3, shard, Epoch{2}, ShardOffset{2}, three, out);
  EXPECT_EQ(out.size(), 1u);
}

TEST(QuorumGate, ReportsAgainOnlyWhatComesAgain) {
  QuorumGate gate(1);
  QuorumGate::Reports out;
  gate.take(report(1, 1), three, out);
  gate.take(report(2, 1), three, out);

  gate.take(report(1, 2), three, out);
  gate.followed(2, shard, Epoch{1}, ShardOffset{3}, three, out);

  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out.front().report.first, ShardOffset{1});
  EXPECT_EQ(out.front().report.appends.front().events, 2u);
}

// The process is gone, and its disk perhaps: what waits for etcd meanwhile, or is reported again, is on one disk.
TEST(QuorumGate, ForgetsWhatAProcessSaidThatIsGone) {
  QuorumGate gate(1);
  QuorumGate::Reports out;
  gate.followed(2, shard, Epoch{1}, ShardOffset{9}, three, out);
  EXPECT_EQ(gate.quorum_has(shard, three), ShardOffset{9});

  gate.lost(2);
  EXPECT_EQ(gate.quorum_has(shard, three), ShardOffset{1});
  gate.take(report(1, 1), three, out);
  EXPECT_TRUE(out.empty());
}

TEST(QuorumGate, CountsTheLowerTailOfANewDisk) {
  QuorumGate gate(1);
  QuorumGate::Reports out;
  gate.followed(2, shard, Epoch{1}, ShardOffset{9}, three, out);

  gate.lost(2);
  gate.followed(2, shard, Epoch{1}, ShardOffset{3}, three, out);
  EXPECT_EQ(gate.quorum_has(shard, three), ShardOffset{3});
  gate.take(report(1, 5), three, out);
  EXPECT_TRUE(out.empty());
}

// It learns the shard anew within one epoch.
TEST(QuorumGate, ForgetsWhatAReplicaSaidThatLeavesTheSet) {
  QuorumGate gate(1);
  QuorumGate::Reports out;
  gate.followed(3, shard, Epoch{1}, ShardOffset{9}, three, out);

  gate.note(shard, sharding::ReplicaSet{2, {1, 2}});
  gate.note(shard, three);
  EXPECT_EQ(gate.quorum_has(shard, three), ShardOffset{1});
}

TEST(QuorumGate, LetsThroughWhatAsksForACut) {
  QuorumGate gate(1);
  QuorumGate::Reports out;

  gate.take({{shard, Epoch{1}, ShardOffset{1}, {}}, 7}, three, out);

  EXPECT_EQ(out.size(), 1u);
}

}  // namespace
}  // namespace evershard::cluster
