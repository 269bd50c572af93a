// A cluster's status as a message, there and back.

#include "evershard/api/messages/cluster_messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evershard {
namespace {

using ::testing::Contains;
using ::testing::Not;
using Cause = ClusterChange::Cause;

TEST(ClusterMessages, GiveBackWhatHappenedAndHowNodesAre) {
  ClusterStatus said;
  auto& node = said.nodes.emplace_back();
  node.is.node = 3;
  node.learn_left_ms = 0;
  node.clock_ahead_ms = -1'500;
  node.clock_differs = true;
  said.nodes.emplace_back().is.node = 4;
  auto& shard = said.shards.emplace_back();
  shard.without_quorum = true;
  shard.without_writer_ms = 70;
  for (std::size_t cause = 0; cause != ClusterChange::causes; ++cause)
    said.changes.push_back({Timestamp{5}, static_cast<Cause>(cause), 1, 2, {ShardId{0}, ShardId{65'535}}, cause});
  said.counts = {{Cause::node_silent, 3, 4'500}};

  v1::ClusterStatusResponse message;
  messages::put(said, message);
  ClusterStatus got;
  ASSERT_TRUE(messages::get(message, got));

  ASSERT_EQ(got.nodes.size(), 2u);
  EXPECT_EQ(got.nodes[0].learn_left_ms, said.nodes[0].learn_left_ms);
  EXPECT_EQ(got.nodes[0].clock_ahead_ms, said.nodes[0].clock_ahead_ms);
  EXPECT_TRUE(got.nodes[0].clock_differs);
  EXPECT_EQ(got.nodes[1].learn_left_ms, std::nullopt);
  EXPECT_EQ(got.nodes[1].clock_ahead_ms, std::nullopt);
  EXPECT_TRUE(got.shards[0].without_quorum);
  EXPECT_EQ(got.shards[0].without_writer_ms, 70u);
  EXPECT_EQ(got.changes, said.changes);
  EXPECT_EQ(got.counts, said.counts);
}

TEST(ClusterMessages, LeaveOutCausesOfALaterReleaseAndRefuseShardsThatCannotBe) {
  v1::ClusterStatusResponse message;
  message.add_changes()->set_cause(static_cast<v1::ClusterStatusResponse::Cause>(99));
  message.add_counts()->set_cause(static_cast<v1::ClusterStatusResponse::Cause>(99));
  ClusterStatus got;
  ASSERT_TRUE(messages::get(message, got));
  EXPECT_TRUE(got.changes.empty());
  EXPECT_TRUE(got.counts.empty());

  message.add_changes()->add_shards(65'536);
  EXPECT_EQ(messages::get(message, got).error().code, ErrorCode::corruption);
}

// Each has words of its own, for programs and for people.
TEST(ClusterChanges, AreNamed) {
  std::vector<std::string> names, sentences;
  for (std::size_t cause = 0; cause != ClusterChange::causes; ++cause) {
    const ClusterChange change{{}, static_cast<Cause>(cause), 1, 2, {}, 0};
    EXPECT_THAT(names, Not(Contains(name_of(change.cause))));
    EXPECT_THAT(sentences, Not(Contains(sentence_of(change))));
    names.emplace_back(name_of(change.cause));
    sentences.push_back(sentence_of(change));
  }
  EXPECT_THAT(names, Not(Contains("unknown")));
}

}  // namespace
}  // namespace evershard
