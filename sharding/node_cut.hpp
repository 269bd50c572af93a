// NodeCut: a cut as one node keeps it: its own shards' segments, and of the others only how many positions they take.

#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "evershard/sharding/cut.hpp"

namespace evershard::sharding {

/// The positions of what stays are the same.
///
/// Shape: of others, neighbours are one segment; one without a position is none.
/// `own`: asked of each segment: its shard and epoch are the node's (rule 12). `openings`: those that were for this
///        very process; what is given to others must not look like this node's after a restart.
[[nodiscard]] Cut cut_of_node(const Cut& cut, const std::function<bool(const Segment&)>& own,
                              std::vector<Opening> openings);

/// Of shards that a node has only in part: their segments as far as they are here, `here`; the rest is elsewhere.
[[nodiscard]] Cut as_far_as_here(const Cut& cut, const std::vector<ShardId>& in_part, const std::vector<Segment>& here);

/// So many in a row: who says more is not believed.
inline constexpr std::uint64_t refused_max = 1u << 20;
/// The segment from this offset on: what lies between was refused, there before the segment, or in it and covered
/// already. As it is where it places what is covered, or is elsewhere.
void begin_at(Segment& segment, ShardOffset from);

/// Of a node's cut: without what it gives of these shards from these offsets on, which is elsewhere.
[[nodiscard]] Cut without(const Cut& cut, const std::map<ShardId, ShardOffset>& from);

}  // namespace evershard::sharding
