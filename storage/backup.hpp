// Backup: a copy of a running store that opens by itself, and the way back.

#pragma once

#include <filesystem>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/progress.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::storage {

/// Copies the store as it stands while commits go on: a prefix of it, with everything acknowledged before the call. Files
/// are linked where the target is on the same disk. The copy has a `fork` id of its own.
///
/// Shape:  the target is absent or an empty folder. Made in "<target>.part", renamed at the end: what bears the target's
///         name is whole, and a rest of an earlier try is replaced.
/// Errors: invalid_argument (the target holds something; a store in memory), io, corruption, cancelled
/// Durable: on return the copy is synced.
[[nodiscard]] Result<void> backup(const Store& store, const std::filesystem::path& target, const Progress& progress = {});

/// Copies a backup, or a store that is closed, into an absent or empty folder; opens and verifies the copy before it gets its
/// name. The copy has a `fork` id of its own.
///
/// Errors: not_found (no store at `source`), unavailable (the source is open), invalid_argument (the target holds
///         something), corruption (the source is damaged: the first finding; nothing is restored), io, cancelled
[[nodiscard]] Result<void> restore(const std::filesystem::path& source, const std::filesystem::path& target, const Progress& progress = {});

}  // namespace evershard::storage
