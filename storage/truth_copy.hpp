// TruthCopy: order, journal and state of a damaged store, as far as they are whole, into a new database.

#pragma once

#include <filesystem>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/identity.hpp"
#include "evershard/storage/options.hpp"
#include "evershard/storage/progress.hpp"
#include "evershard/storage/rows.hpp"

namespace evershard::storage {

/// Cuts up to `keeps` and the records they name; of the state, what can be read: but for snapshots of later versions.
/// The copy is a fork of its own; it has no indexes.
///
/// Shape:  `keeps` is the end of a cut, or 0. The folder is not there.
/// Errors: cancelled, corruption, io
Result<void> copy_truth(const Rows& from, const Identity& identity, GlobalPosition keeps, const StoreOptions& options,
                        const std::filesystem::path& folder, const Progress& progress);

}  // namespace evershard::storage
