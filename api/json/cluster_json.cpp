#include "evershard/api/json/cluster_json.hpp"

#include <algorithm>
#include <string>

namespace evershard {
namespace {

void write_cluster_members(JsonText& json, const ClusterStatus& status) {
  json.key("answered_by").number(status.self).key("applied").number(status.applied.value);
  json.key("coordinator_up")
      .boolean(status.trouble.empty())
      .key("trouble")
      .string(status.trouble)
      .key("coordinator_epoch")
      .number(status.coordinator.value);
  if (!status.trouble.empty()) return;
  json.key("last_cut")
      .number(status.last_cut.value)
      .key("watermark")
      .number(status.watermark.value)
      .key("cuts_per_second")
      .number(status.cuts_per_second);
}

}  // namespace

const char* state_of(const ClusterStatus& status, std::size_t shard) {
  const auto& at = status.shards[shard];
  if (at.node == 0) return "unowned";
  if (!status.trouble.empty()) return "unknown";
  if (at.without_quorum) return "no-quorum";
  if (at.open) return "open";
  return at.trouble.empty() ? "down" : "refused";
}

void write_cluster(JsonText& json, const ClusterStatus& status) {
  json.begin_object().key("kind").string("cluster");
  write_cluster_members(json, status);
  json.key("nodes").number(status.nodes.size()).key("shards").number(status.shards.size()).end_object();
}

void write_cluster_node(JsonText& json, const ClusterStatus& status, const ClusterStatus::Node& node) {
  json.begin_object().key("kind").string("node").key("node").number(node.is.node).key("up").boolean(node.is.up);
  if (node.is.since != Timestamp{}) json.key("since").string(node.is.since.text());
  json.key("door")
      .string(node.is.door)
      .key("address")
      .string(node.is.address)
      .key("version")
      .string(node.is.version)
      .key("shards")
      .number(node.shards);
  if (node.is.gateway) json.key("gateway").boolean(true);
  if (status.trouble.empty()) {  // else nobody knows
    json.key("refused")
        .number(node.refused)
        .key("applied_cut")
        .number(node.applied.value)
        .key("behind")
        .number(node.behind)
        .key("behind_events")
        .number(node.behind_events)
        .key("behind_ms")
        .number(node.behind_ms);
  }
  if (node.full) json.key("disk_full").boolean(true);
  if (!node.zone.empty()) json.key("zone").string(node.zone);
  if (node.replicas != 0 || node.learns != 0) json.key("replicas").number(node.replicas);
  if (node.learns != 0)
    json.key("learns")
        .number(node.learns)
        .key("learned_events")
        .number(node.learned_events)
        .key("learn_events")
        .number(node.learn_events);
  if (node.learn_left_ms) json.key("learn_left_ms").number(*node.learn_left_ms);
  if (node.clock_ahead_ms) json.key("clock_ahead_ms").raw(std::to_string(*node.clock_ahead_ms));
  if (node.clock_differs) json.key("clock_differs").boolean(true);
  json.end_object();
}

void write_cluster_shard(JsonText& json, const ClusterStatus& status, std::size_t shard) {
  const auto& at = status.shards[shard];
  json.begin_object()
      .key("kind")
      .string("shard")
      .key("shard")
      .number(shard)
      .key("node")
      .number(at.node)
      .key("state")
      .string(state_of(status, shard));
  json.key("epoch").number(at.epoch.value);
  if (status.trouble.empty()) {
    json.key("ordered")
        .number(at.ordered.value - 1)
        .key("waiting")
        .number(at.durable > at.ordered ? at.durable - at.ordered : 0)
        .key("last_position")
        .number(at.last_position.value);
    json.key("trouble").string(at.trouble);
    if (at.without_writer_ms != 0) json.key("without_writer_ms").number(at.without_writer_ms);
    if (!at.replicas.empty()) {
      json.key("quorum").number(at.quorum).key("replicas").begin_array();
      for (const auto node : at.replicas) json.number(node);
      json.end_array();
      if (!at.learners.empty()) {
        json.key("learners").begin_array();
        for (const auto node : at.learners) json.number(node);
        json.end_array();
      }
    }
  }
  json.end_object();
}

void write_cluster_set(JsonText& json, const ClusterStatus& status, const ClusterStatus::Set& set) {
  const auto numbers = [&](const char* key, const std::vector<std::uint32_t>& of) {
    json.key(key).begin_array();
    for (const auto node : of) json.number(node);
    json.end_array();
  };
  json.begin_object().key("kind").string("set");
  numbers("nodes", set.nodes);
  json.key("quorum").number(set.quorum).key("up").number(set.up);
  numbers("leaders", set.leaders);
  if (!set.learners.empty()) numbers("learners", set.learners);
  json.key("replicas").begin_array();
  for (const auto& node : status.nodes) {
    if (!std::ranges::binary_search(set.nodes, node.is.node)) continue;
    json.begin_object().key("node").number(node.is.node).key("up").boolean(node.is.up);
    json.key("behind_events").number(node.behind_events).key("behind_ms").number(node.behind_ms).end_object();
  }
  json.end_array().key("shards").begin_array();
  for (const auto shard : set.shards) json.number(shard.value);
  json.end_array().key("trouble").string(set.trouble).end_object();
}

void write_cluster_change(JsonText& json, const ClusterChange& change) {
  json.begin_object().key("kind").string("change").key("at").string(change.at.text());
  json.key("cause").string(name_of(change.cause)).key("what").string(sentence_of(change));
  if (change.from != 0) json.key("from").number(change.from);
  if (change.to != 0) json.key("to").number(change.to);
  if (!change.shards.empty()) {
    json.key("shards").begin_array();
    for (const auto shard : change.shards) json.number(shard.value);
    json.end_array();
  }
  json.key("without_writer_ms").number(change.without_writer_ms).end_object();
}

void write_whole_cluster(JsonText& json, const ClusterStatus& status) {
  json.begin_object();
  write_cluster_members(json, status);
  json.key("nodes").begin_array();
  for (const auto& node : status.nodes) write_cluster_node(json, status, node);
  json.end_array().key("shards").begin_array();
  for (std::size_t s = 0; s != status.shards.size(); ++s) write_cluster_shard(json, status, s);
  json.end_array();
  if (status.trouble.empty()) {
    json.key("sets").begin_array();
    for (const auto& set : status.sets()) write_cluster_set(json, status, set);
    json.end_array().key("changes").begin_array();
    for (const auto& change : status.changes) write_cluster_change(json, change);
    json.end_array();
  }
  json.end_object();
}

}  // namespace evershard
