// Vacuum: files rewritten, range by range, without what was removed or superseded.

#pragma once

#include "evershard/protocol/result.hpp"
#include "evershard/storage/progress.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::storage {

/// Beside reads and commits. In memory there is nothing to do.
///
/// Units:  progress in bytes of files as they were at the beginning.
/// Errors: cancelled (between two ranges: what is done stays done), corruption, io
/// Cost:   writes everything once; a range at a time is on the disk twice.
[[nodiscard]] Result<void> vacuum(const Store& store, const Progress& progress = {});

}  // namespace evershard::storage
