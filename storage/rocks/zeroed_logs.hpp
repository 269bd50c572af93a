// Logs over zeros: RocksDB's write-ahead log is written over zeros that were put there before, so that its sync is one
// write to the disk.

#pragma once

#include <cstddef>
#include <memory>

namespace rocksdb {
class Env;
}

namespace evershard::storage {

/// The environment `base`, or RocksDB's own where that is nullptr, but for files named `*.log`: behind what is written
/// to one lie up to `zeros_max` bytes of zeros, put there by a thread of its own. A log that is closed ends with its
/// last byte; after a crash zeros may follow it, which RocksDB passes over.
///
/// A write behind the end of a file changes its length and where it lies: its sync waits for the file system's own
/// journal, a second write and a thread of the kernel. Over zeros that are on the disk it waits for the data alone.
/// That is so where a file system writes things in their place, as ext4 and XFS do: on others no zeros are put, unless
/// `everywhere`, for tests.
///
/// Durable: as without zeros: a sync covers all that was written before it. Zeros are no promise, and failing to put
///          them is no failure.
/// Owner:   `base` outlives the Env that is returned, and that Env outlives what was opened with it.
/// Source:  docs/internals/on-disk-format.md, "The folder"; docs/decisions/0023-logs-over-zeros.md
[[nodiscard]] std::shared_ptr<rocksdb::Env> with_zeroed_logs(rocksdb::Env* base, std::size_t zeros_max,
                                                             bool everywhere = false);

}  // namespace evershard::storage
