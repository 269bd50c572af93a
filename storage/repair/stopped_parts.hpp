// Directories of a cluster's nodes that are stopped, and which shards of the cluster are taken from each.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/repair/joined_parts.hpp"

namespace evershard::storage {

struct StoppedParts {
  /// Those that shards are taken from, in the sequence of their numbers; nobody opens them while these live.
  std::vector<StorePart> parts;
  GlobalPosition end;    ///< all of them have their shards up to here; the end of an append
  GlobalPosition known;  ///< some directory knows that positions up to here were given
  std::string types{};   ///< TYPES of the first that has some
};

/// Takes, for each shard, the directory in which cuts cover most of the shard; of several such directories, one that
/// has applied most cuts. It does not know which node keeps which shard: where no directory has a shard any more,
/// join_parts() says so.
///
/// Errors: invalid_argument (no node's directory; of another cluster; two of one node; none at all), unavailable
///         (one is open), corruption (a shard is damaged in every directory), io
[[nodiscard]] Result<StoppedParts> open_stopped_parts(const std::vector<std::filesystem::path>& folders);

}  // namespace evershard::storage
