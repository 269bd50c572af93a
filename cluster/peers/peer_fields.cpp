#include "evershard/cluster/peers/peer_fields.hpp"

#include <algorithm>

#include "evershard/protocol/messages.hpp"

namespace evershard::cluster::peer_fields {

namespace pb = evershard::v1;

Refused malformed(const char* what) {
  return refuse(ErrorCode::corruption, std::string("a peer's message is no ") + what);
}

bool shard_of(std::uint32_t number, ShardId& shard) {
  shard = ShardId{static_cast<std::uint16_t>(number)};
  return number <= std::numeric_limits<std::uint16_t>::max();
}

void put_process(const NodeProcess& from, pb::NodeProcess& to) {
  to.set_node(from.node);
  to.set_incarnation(from.incarnation);
}

NodeProcess process_of(const pb::NodeProcess& from) { return {from.node(), from.incarnation()}; }

bool id_of(const std::string& bytes, EventId& id) {
  if (bytes.empty()) return true;
  if (bytes.size() != id.bytes.size()) return false;
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(id.bytes.data()));
  return true;
}

void put_id(const EventId& from, std::string& to) {
  if (from.given()) to.assign(reinterpret_cast<const char*>(from.bytes.data()), from.bytes.size());
}

void put_leadership(const sharding::Leadership& from, pb::Leadership& to) {
  to.set_epoch(from.epoch.value);
  put_id(from.identity, *to.mutable_identity());
}

bool get_leadership(const pb::Leadership& from, sharding::Leadership& to) {
  to.epoch = Epoch{from.epoch()};
  return id_of(from.identity(), to.identity);
}

void put_replicas(const sharding::ReplicaSet& from, v1::ReplicaSet& to) {
  to.set_quorum(from.quorum);
  to.mutable_nodes()->Add(from.nodes.begin(), from.nodes.end());
  to.mutable_learned()->Add(from.learned.begin(), from.learned.end());
}

bool get_replicas(const v1::ReplicaSet& from, sharding::ReplicaSet& to) {
  to.quorum = std::max(1U, from.quorum());
  to.nodes.assign(from.nodes().begin(), from.nodes().end());
  to.learned.assign(from.learned().begin(), from.learned().end());
  return std::ranges::adjacent_find(to.nodes, std::ranges::greater_equal{}) == to.nodes.end() &&
         std::ranges::adjacent_find(to.learned, std::ranges::greater_equal{}) == to.learned.end() &&
         (to.nodes.empty() || to.nodes.front() != 0);
}

void put_part_of(const sharding::PartOf& from, pb::PartOf& to) {
  put_id(from.append, *to.mutable_append());
  for (const auto& [shard, events] : from.runs) {
    auto& run = *to.add_runs();
    run.set_shard(shard.value);
    run.set_events(events);
  }
}

bool get_part_of(const pb::PartOf& from, sharding::PartOf& to) {
  if (!id_of(from.append(), to.append)) return false;
  for (const auto& run : from.runs()) {
    ShardId shard;
    if (!shard_of(run.shard(), shard)) return false;
    to.runs.emplace_back(shard, run.events());
  }
  return true;
}

void put_error(const Error& from, pb::Error& to) { messages::put(from, to); }

bool get_error(const pb::Error& from, Error& to) {
  pb::Error copy = from;
  return messages::get(copy, to).has_value();
}

}  // namespace evershard::cluster::peer_fields
