// HistoryMerge: what several replicas have applied, as a node that keeps all of these shards would have it.

#pragma once

#include <optional>
#include <vector>

#include "evershard/cluster/order/messages.hpp"

namespace evershard::cluster {

/// What one replica gave behind a position, and which shards are taken from it: it keeps them.
struct HistoryPart {
  NodeHistory history;
  std::vector<ShardId> shards;
};

/// The first of the part's shards of which not all that cuts placed is in what it gave: its node does not keep it
/// whole.
[[nodiscard]] std::optional<ShardId> missing_of(const HistoryPart& part);

/// Cuts in order, the first of which begins behind `after`; each covers all of these shards. Of a shard that is in no
/// part, positions are elsewhere. It goes as far as the part that goes least far: no cut is named of which one part may
/// have something that is not here. What was refused only may come earlier than its cut.
///
/// `ends` of the result: every part has given all that it has. Shape: each shard is in one part.
/// Errors: corruption: two parts have different events at one position
[[nodiscard]] Result<NodeHistory> merged(GlobalPosition after, const std::vector<HistoryPart>& parts);

}  // namespace evershard::cluster
