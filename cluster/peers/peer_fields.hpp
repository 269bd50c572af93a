// What several of the peers' messages have in common, as Protobuf. Of this folder alone.

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "evershard/cluster/peers/peer_messages.hpp"
#include "evershard/v1/cluster.pb.h"

namespace evershard::cluster::peer_fields {

[[nodiscard]] Refused malformed(const char* what);

template <class Message>
bool parse(std::string_view bytes, Message& message) {
  return bytes.size() <= std::numeric_limits<int>::max() &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

template <class Message, class Value>
PeerBytes bytes_of(PeerKind kind, const Value& value, void (*put)(const Value&, Message&)) {
  Message message;
  put(value, message);
  return {kind, message.SerializeAsString()};
}

template <class Message, class Value, class Into>
Result<Into> value_of(std::string_view bytes, const char* what, bool (*get)(const Message&, Value&)) {
  Message message;
  Value value;
  if (!parse(bytes, message) || !get(message, value)) return malformed(what);
  return Into(std::move(value));
}

// false: malformed.

[[nodiscard]] bool shard_of(std::uint32_t number, ShardId& shard);
void put_process(const NodeProcess& from, v1::NodeProcess& to);
[[nodiscard]] NodeProcess process_of(const v1::NodeProcess& from);
/// None is empty.
[[nodiscard]] bool id_of(const std::string& bytes, EventId& id);
void put_id(const EventId& from, std::string& to);
void put_leadership(const sharding::Leadership& from, v1::Leadership& to);
[[nodiscard]] bool get_leadership(const v1::Leadership& from, sharding::Leadership& to);
void put_replicas(const sharding::ReplicaSet& from, v1::ReplicaSet& to);
[[nodiscard]] bool get_replicas(const v1::ReplicaSet& from, sharding::ReplicaSet& to);
void put_part_of(const sharding::PartOf& from, v1::PartOf& to);
[[nodiscard]] bool get_part_of(const v1::PartOf& from, sharding::PartOf& to);
void put_error(const Error& from, v1::Error& to);
[[nodiscard]] bool get_error(const v1::Error& from, Error& to);

}  // namespace evershard::cluster::peer_fields
