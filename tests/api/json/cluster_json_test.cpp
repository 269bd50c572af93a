// A cluster's status as JSON: what `cluster status` and the HTTP door show.

#include "evershard/api/json/cluster_json.hpp"

#include <gtest/gtest.h>

namespace evershard {
namespace {

/// Two nodes, a gateway, and a shard of each state.
ClusterStatus status_of_three() {
  ClusterStatus status;
  status.self = 2;
  status.applied = GlobalPosition{90};
  status.coordinator = Epoch{4};
  status.last_cut = CutNumber{31};
  status.watermark = GlobalPosition{100};
  status.cuts_per_second = 7;
  status.nodes.push_back({{1, "a:1", "a:2", true, Timestamp{1'000'000}, "1.2", false}, 2, CutNumber{31}, 0, 0});
  status.nodes.push_back({{2, "b:1", "b:2", false, Timestamp{}, "1.3", false}, 2, CutNumber{29}, 2, 1, 40, 1'500});
  status.nodes.push_back({{3, "c:1", "", true, Timestamp{}, "1.3", true}, 0, CutNumber{30}, 1, 0});
  status.shards.push_back({1, Epoch{3}, true, ShardOffset{45}, ShardOffset{41}, GlobalPosition{99}, ""});
  status.shards.push_back({2, Epoch{5}, false, ShardOffset{7}, ShardOffset{9}, GlobalPosition{80}, ""});
  status.shards.push_back({2, Epoch{6}, false, ShardOffset{1}, ShardOffset{1}, GlobalPosition{0}, "it has lost data"});
  status.shards.push_back({0, Epoch{0}, false, ShardOffset{1}, ShardOffset{1}, GlobalPosition{0}, ""});
  return status;
}

std::string cluster_of(const ClusterStatus& status) {
  JsonText json;
  write_whole_cluster(json, status);
  return std::string(json.take());
}

TEST(ClusterJson, SaysWhatEachNodeAndShardIs) {
  EXPECT_EQ(
      cluster_of(status_of_three()),
      R"({"answered_by":2,"applied":90,"coordinator_up":true,"trouble":"","coordinator_epoch":4,"last_cut":31,"watermark":100,"cuts_per_second":7,"nodes":[)"
      R"({"kind":"node","node":1,"up":true,"since":")" +
          Timestamp{1'000'000}.text() +
          R"(","door":"a:2","address":"a:1","version":"1.2","shards":2,"refused":0,"applied_cut":31,"behind":0,"behind_events":0,"behind_ms":0},)"
          R"({"kind":"node","node":2,"up":false,"door":"b:2","address":"b:1","version":"1.3","shards":2,"refused":1,"applied_cut":29,"behind":2,"behind_events":40,"behind_ms":1500},)"
          R"({"kind":"node","node":3,"up":true,"door":"","address":"c:1","version":"1.3","shards":0,"gateway":true,"refused":0,"applied_cut":30,"behind":1,"behind_events":0,"behind_ms":0}],"shards":[)"
          R"({"kind":"shard","shard":0,"node":1,"state":"open","epoch":3,"ordered":40,"waiting":4,"last_position":99,"trouble":""},)"
          R"({"kind":"shard","shard":1,"node":2,"state":"down","epoch":5,"ordered":8,"waiting":0,"last_position":80,"trouble":""},)"
          R"({"kind":"shard","shard":2,"node":2,"state":"refused","epoch":6,"ordered":0,"waiting":0,"last_position":0,"trouble":"it has lost data"},)"
          R"({"kind":"shard","shard":3,"node":0,"state":"unowned","epoch":0,"ordered":0,"waiting":0,"last_position":0,"trouble":""}],"sets":[],"changes":[]})");
}

// A set whose quorum is away, a node that learns, one whose clock differs, and what happened.
TEST(ClusterJson, SaysWhoKeepsWhatAndWhatHappened) {
  auto status = status_of_three();
  for (auto s : {0, 1}) {
    status.shards[s].replicas = {1, 2};
    status.shards[s].quorum = 2;
    status.shards[s].learners = {3};
    status.shards[s].without_quorum = true;
    status.shards[s].trouble = "start node 2";
  }
  status.shards[1].without_writer_ms = 1'200;
  status.nodes[2].learn_left_ms = 9'000;
  status.nodes[2].clock_ahead_ms = -2'000;
  status.nodes[2].clock_differs = true;
  status.changes.push_back({Timestamp{1'000'000}, ClusterChange::Cause::node_lost, 2, 1, {ShardId{0}}, 70});

  ASSERT_EQ(status.sets().size(), 1u);
  EXPECT_EQ(status.sets()[0].up, 1u);
  EXPECT_EQ(status.sets()[0].leaders, std::vector<std::uint32_t>{1}) << "node 2 is down";
  const auto text = cluster_of(status);
  for (
      const std::string part :
      {R"("learn_left_ms":9000,"clock_ahead_ms":-2000,"clock_differs":true})",
       R"("shard":1,"node":2,"state":"no-quorum")", R"("trouble":"start node 2","without_writer_ms":1200,)",
       R"("sets":[{"kind":"set","nodes":[1,2],"quorum":2,"up":1,"leaders":[1],"learners":[3],"replicas":[)"
       R"({"node":1,"up":true,"behind_events":0,"behind_ms":0},{"node":2,"up":false,"behind_events":40,"behind_ms":1500}],)"
       R"("shards":[0,1],"trouble":"start node 2"}])",
       R"("cause":"node_lost","what":"node 2 was lost","from":2,"to":1,"shards":[0],"without_writer_ms":70}]})"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin " << text;
}

// What only a coordinator knows is not made up.
TEST(ClusterJson, SaysNoMoreThanTheNodeRemembersWithoutACoordinator) {
  auto status = status_of_three();
  status.trouble = "it does not answer";
  JsonText json;
  write_cluster(json, status);
  EXPECT_EQ(
      json.take(),
      R"({"kind":"cluster","answered_by":2,"applied":90,"coordinator_up":false,"trouble":"it does not answer","coordinator_epoch":4,"nodes":3,"shards":4})");
  JsonText shard;
  write_cluster_shard(shard, status, 0);
  EXPECT_EQ(shard.take(), R"({"kind":"shard","shard":0,"node":1,"state":"unknown","epoch":3})");
  EXPECT_STREQ(state_of(status, 3), "unowned");
  const auto whole = cluster_of(status);
  EXPECT_NE(whole.find(R"("version":"1.2","shards":2})"), std::string::npos) << whole;
  EXPECT_EQ(whole.find("behind"), std::string::npos) << "nobody knows how far\n" << whole;
}

}  // namespace
}  // namespace evershard
