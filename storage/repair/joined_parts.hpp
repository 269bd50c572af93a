// join_parts: one process's store, made from what nodes of a cluster keep of theirs.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/options.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::storage {

/// Order, journal and state of one node, as they were at one moment. The journal has all that its cuts name.
struct StorePart {
  std::shared_ptr<const Rows> rows;
  Identity identity;
  std::vector<ShardId> shards;  ///< that are taken from it: it has them up to where the join ends, and further
};

struct JoinedPartsOptions {
  /// The store ends here: the end of an append, or 0.
  GlobalPosition keeps;
  bool compact = false;                                               ///< as TruthCopyOptions has it
  std::function<void(const AggregateId& aggregate)> without_state{};  ///< as TruthCopyOptions has it
  std::function<void(const std::string& what)> left_out{};  ///< told of each damaged snapshot; absent: nobody is
};

/// Order, journal and state up to `keeps`, into a new database without indexes: a whole store, and a fork of its own,
/// as a single process would have written it. Offsets and epochs are its own. Snapshots and what is removed are those
/// of their shards' parts.
///
/// Shape:  each shard of the cluster is in one part; the folder is not there.
/// Errors: invalid_argument (parts of different clusters; `keeps` lies inside of an append: named), corruption (of what
///         is to be kept: the first place; positions that are in no part, or in two), cancelled, io
/// Cost:   reads all of it once, and checks every event.
Result<void> join_parts(const std::vector<StorePart>& parts, const JoinedPartsOptions& how, const StoreOptions& options,
                        const std::filesystem::path& folder, const Progress& progress);

}  // namespace evershard::storage
