// Which shards of a cluster are copied from which of its nodes.

#pragma once

#include <cstdint>
#include <vector>

#include "evershard/api/cluster_status.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cli {

/// What a node says that it has.
struct PartOffer {
  std::uint32_t node = 0;
  GlobalPosition watermark{};     ///< it has applied so much
  std::vector<ShardId> shards{};  ///< whole
  std::uint32_t failures = 0;     ///< how often the node did not give what it offered
};

struct PlannedPart {
  std::uint32_t node = 0;
  std::vector<ShardId> shards{};  ///< ascending
  friend bool operator==(const PlannedPart&, const PlannedPart&) = default;
};

/// The shards that a node keeps by what the cluster knows: what it is still being given does not count.
[[nodiscard]] std::vector<ShardId> kept_by(const ClusterStatus& status, std::uint32_t node);

/// As few parts as a short look finds: who failed least and has most of what is left comes first, and of those who is
/// furthest. Shards that nobody offers are in no part.
[[nodiscard]] std::vector<PlannedPart> plan_parts(std::vector<PartOffer> offers, std::vector<ShardId> wanted);

}  // namespace evershard::cli
