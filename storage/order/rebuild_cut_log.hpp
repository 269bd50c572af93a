// A cut log that is lost, made anew from the directories of the nodes.

#pragma once

#include <filesystem>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/rebuilt_order.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::storage {

/// What the nodes say, and which cluster they are of.
struct RebuiltCutLog {
  Identity identity;  ///< of the log
  sharding::RebuiltOrder::Outcome order;
};

/// Reads the nodes' stores, closed, and changes nothing.
///
/// Errors: invalid_argument (no node is given; a whole store; nodes of different clusters; a node twice), unavailable
///         (one is open), corruption (what they hold cannot be of one history), io, cancelled
[[nodiscard]] Result<RebuiltCutLog> look_for_cut_log(const std::vector<std::filesystem::path>& nodes,
                                                     const Progress& progress = {});

/// Writes it where there is none, opens it again and compares.
///
/// Errors: invalid_argument (there is a log), corruption (what was read back differs), io
/// Durable: on return.
[[nodiscard]] Result<void> write_cut_log(const std::filesystem::path& folder, const RebuiltCutLog& rebuilt);

}  // namespace evershard::storage
