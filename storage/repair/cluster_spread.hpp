// spread_store: the parts of a cluster's nodes, made of one process's store or a backup of it.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut_log_state.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::storage {

struct SpreadOptions {
  std::uint32_t nodes = 1;                ///< they are 1 to `nodes`
  std::uint32_t replicas = 1;             ///< so many of them keep each shard
  std::optional<GlobalPosition> up_to{};  ///< as in RestoreOptions, like the next two fields
  std::function<void(const AggregateId& aggregate)> without_state{};
  std::function<void(const std::string& what)> left_out{};
};

/// What the cut log of the new cluster begins with: all cuts are folded, every shard has an owner and is not open yet.
struct SpreadStore {
  Identity identity;
  sharding::CutLogState state;
};

/// Who keeps a shard of a new cluster; the first of them is its owner.
[[nodiscard]] std::vector<std::uint32_t> keepers_of(ShardId shard, const SpreadOptions& how);

/// Makes "node-1", "node-2", ... in `target`, each with its indexes and verified. They are of one fork of the store,
/// which is a new one. `cut_log` writes the log that goes with them, where it is to be; it may write into the folder
/// that it is given, which is the target's before it has its name.
///
/// Shape:   the target is absent or an empty folder. Made in "<target>.part", renamed at the end: what bears the
///          target's name is whole.
/// Returns: where the store ends.
/// Errors:  not_found (no store at `source`), unavailable (it is open), invalid_argument (a node's part, a backup that
///          was not finished, more replicas than nodes, the target holds something; `up_to` as for a backup),
///          corruption, cancelled, io; those of `cut_log`
/// Durable: on return.
[[nodiscard]] Result<GlobalPosition> spread_store(
    const std::filesystem::path& source, const std::filesystem::path& target, const SpreadOptions& how,
    const std::function<Result<void>(const std::filesystem::path& folder, const SpreadStore& cluster)>& cut_log,
    const Progress& progress = {});

/// The name of a node's directory there.
[[nodiscard]] std::string spread_node_name(std::uint32_t node);

}  // namespace evershard::storage
