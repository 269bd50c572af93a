// Verify: everything a store holds, looked at: truth for its checksums, indexes against what the truth gives.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/directory_kind.hpp"
#include "evershard/storage/progress.hpp"
#include "evershard/storage/repair/derived_damage.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::storage {

inline constexpr std::size_t findings_max = 100;

struct VerifyReport {
  std::uint64_t events = 0;      ///< up to the watermark
  std::uint64_t records = 0;     ///< of the journal
  std::uint64_t index_rows = 0;  ///< sealed ones
  std::uint64_t snapshots = 0;
  std::uint64_t errors = 0;  ///< all that were met
  LeftOut derived;           ///< of these errors: damage that a copy can do without
  std::vector<std::string>
      findings;  ///< a sentence each, which names shard and offset, family or file; the first `findings_max`
};

/// Checks the store as one view has it, while it runs; changes nothing and keeps the block cache to others.
///
/// The order is dense and each of its events is in the journal, whole; indexes, sealed and in memory, hold what a
/// rebuild from the journal would make, and nothing else; each aggregate's seq_nrs are dense; snapshots are whole and
/// of versions that exist; every block of every file can be read.
///
/// Errors: cancelled, io. Damage is no error here: it is what the report is for.
/// Cost:   reads everything twice; 1 M events take a few seconds. Memory: tens of megabytes, whatever the store's size.
[[nodiscard]] Result<VerifyReport> verify(const Store& store, const Progress& progress = {});

/// What lies in a directory, and what is wrong with it.
struct DirectoryReport {
  DirectoryKind kind = DirectoryKind::nothing;
  std::uint32_t node = 0;  ///< of a node's part: whose
  VerifyReport report;     ///< of a cut log: `events` positions that were given, `records` cuts that are kept
};

/// Looks what it is, and checks it by its own rules: a store or a node's part, closed, or a whole backup of either, as
/// verify() does; a backup of the truth without indexes; a coordinator's cut log, row by row. Nobody has it open
/// meanwhile, and nothing is changed.
///
/// Errors: those of refuse_what_is_no_store(); unavailable (open: by whom; a node has to be started first),
///         invalid_argument (a newer format), cancelled, io. Damage is no error, unless the directory does not open
///         with it: then `corruption`.
/// Memory: as verify(), and index entries of what was not sealed, about 150 bytes an event.
[[nodiscard]] Result<DirectoryReport> verify_directory(const std::filesystem::path& data_dir,
                                                       const Progress& progress = {});

}  // namespace evershard::storage
