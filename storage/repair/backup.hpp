// Backup: a copy of a running store, and the way back.

#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/progress.hpp"
#include "evershard/storage/store.hpp"

namespace rocksdb {
class Env;
}

namespace evershard::storage {

struct BackupOptions {
  /// Journal, order and state without the indexes: less than half of the size. Such a copy is not opened: restore()
  /// makes the indexes anew.
  bool truth_only = false;
  /// The copy ends with this position, as if nothing behind it had ever been appended. Absent: where the store ends.
  std::optional<GlobalPosition> up_to{};
  rocksdb::Env* env = nullptr;                                        ///< for tests: the disk that is written to
  std::function<void(const AggregateId& aggregate)> without_state{};  ///< as in RestoreOptions, like the next field
  std::function<void(const std::string& what)> left_out{};
};

/// Copies the store as it stands while commits go on: a prefix of it, with everything acknowledged before the call, or
/// up to a position of it. The copy has a `fork` id of its own, and opens by itself.
///
/// A whole copy is linked where the target is on the same disk. One of the truth, or up to a position, is written anew,
/// with all checksums checked, and verified before it gets its name; on the store's own disk it is given up where
/// appends are refused for want of space.
///
/// Shape:  the target is absent or an empty folder. Made in "<target>.part", renamed at the end: what bears the
///         target's name is whole, and a rest of an earlier try is replaced.
/// Returns: the position the copy ends with.
/// Errors: invalid_argument (the target holds something; a store in memory; `up_to` is behind the end, or inside of an
///         append: named), unavailable (the store's disk is full), io, corruption, cancelled
/// Durable: on return the copy is synced.
/// Memory: a copy up to a position, up to 300 MB while its indexes are made.
[[nodiscard]] Result<GlobalPosition> backup(const Store& store, const std::filesystem::path& target,
                                            const BackupOptions& options, const Progress& progress = {});
[[nodiscard]] Result<GlobalPosition> backup(const Store& store, const std::filesystem::path& target,
                                            const Progress& progress = {});

/// Whether the folder is a copy that was made by backup(), and no store that was restored of it. It opens by itself;
/// what is due in it is its store's to do.
[[nodiscard]] bool is_backup(const std::filesystem::path& folder);

struct RestoreOptions {
  std::optional<GlobalPosition> up_to{};  ///< as for a backup. What is damaged behind it does no harm.
  rocksdb::Env* env = nullptr;            ///< for tests: the disk that is written to
  /// Called for aggregates whose state cannot be made in the copy any more: events that were there at `up_to` were
  /// removed since, and what stands for them is of later versions. May be absent.
  std::function<void(const AggregateId& aggregate)> without_state{};
  /// Told of what is damaged in the source and can be done without: indexes, which are made anew, and snapshots. A
  /// sentence each. May be absent.
  std::function<void(const std::string& what)> left_out{};
};

/// Copies a backup of either kind, or a store that is closed, into an absent or empty folder; opens and verifies the
/// copy before it gets its name. The copy has a `fork` id of its own.
///
/// Returns: the position the store ends with.
/// Errors: not_found (no store at `source`), unavailable (the source is open), invalid_argument (the target holds
///         something; a backup that was not finished; `up_to` as for a backup), corruption (the source is damaged: the
///         first finding; nothing is restored), io, cancelled
[[nodiscard]] Result<GlobalPosition> restore(const std::filesystem::path& source, const std::filesystem::path& target,
                                             const RestoreOptions& options, const Progress& progress = {});
[[nodiscard]] Result<GlobalPosition> restore(const std::filesystem::path& source, const std::filesystem::path& target,
                                             const Progress& progress = {});

}  // namespace evershard::storage
