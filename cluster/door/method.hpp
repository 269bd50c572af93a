// Method: the RPCs of the door, as they are counted.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace evershard::door {

enum class Method : std::uint8_t {
  append, append_many, read, subscribe,
  head, get_event, get_aggregate, list_aggregates, get_state, put_snapshot, get_snapshot, list_snapshots, get_types, members,
  stats, flush, verify, vacuum, backup, cluster_status, cluster_assign,
};

/// In the order of Method. Source: protocol/v1/service.proto
inline constexpr std::array<std::string_view, 21> method_names{
    "Append", "AppendMany", "Read", "Subscribe",
    "Head", "GetEvent", "GetAggregate", "ListAggregates", "GetState", "PutSnapshot", "GetSnapshot", "ListSnapshots", "GetTypes", "Members",
    "Stats", "Flush", "Verify", "Vacuum", "Backup", "ClusterStatus", "ClusterAssign",
};

}  // namespace evershard::door
