// A cluster's status as JSON: on the command line, and over HTTP.

#pragma once

#include "evershard/api/cluster_status.hpp"
#include "evershard/api/json/json_text.hpp"

namespace evershard {

/// `open`, `no-quorum`, `refused`, `down` (its node is), `unowned`, or `unknown` where no coordinator was asked.
[[nodiscard]] const char* state_of(const ClusterStatus& status, std::size_t shard);

/// One object: of the whole, of a node, of a shard, of a set, of a change.
void write_cluster(JsonText& json, const ClusterStatus& status);
void write_cluster_node(JsonText& json, const ClusterStatus& status, const ClusterStatus::Node& node);
void write_cluster_shard(JsonText& json, const ClusterStatus& status, std::size_t shard);
/// One of `status.sets()`, with how far its nodes are behind.
void write_cluster_set(JsonText& json, const ClusterStatus& status, const ClusterStatus::Set& set);
void write_cluster_change(JsonText& json, const ClusterChange& change);
/// All of them in one.
void write_whole_cluster(JsonText& json, const ClusterStatus& status);

}  // namespace evershard
