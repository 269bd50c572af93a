// Maintenance: work on a store that is not open: what is wrong and mending it, the way back from a backup, looking at
// raw rows.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/local/local.hpp"

namespace evershard {

/// What is wrong with a store, and what recover() does about it.
struct RecoveryPlan {
  GlobalPosition acknowledged;    ///< positions up to here were given
  GlobalPosition keeps;           ///< the store ends here afterwards
  std::uint64_t lost = 0;         ///< acknowledged events that will be gone
  std::uint32_t node = 0;         ///< of a cluster: whose part this is; 0: a whole store
  bool more_may_be_lost = false;  ///< of a node's part, behind `keeps`: only its coordinator knows
  std::vector<std::pair<GlobalPosition, GlobalPosition>> holes;  ///< [from, until): events missing inside of the rest
  std::vector<std::string> findings;  ///< what is damaged or missing, a sentence each; at most 100
  std::vector<std::string> steps;     ///< what recover() does, in order; empty: nothing
  std::vector<std::string> unmended;  ///< of the findings those that no step mends; holes are not among them
  std::string refusal;                ///< empty, or why recover() refuses as it was asked, and what to ask for instead
};

struct RecoveryOptions {
  bool cut_back =
      false;  ///< of a whole store: ends the store before the first hole: what is left is dense, all behind it is lost
};

/// Looks, changes nothing: at a store, or a node's part of one.
///
/// Errors: not_found, invalid_argument (what is neither: named), unavailable (opened by another process), corruption
/// (past all repair), cancelled, io
[[nodiscard]] Result<RecoveryPlan> plan_recovery(const std::filesystem::path& data_dir, RecoveryOptions options = {},
                                                 Progress progress = {});
/// Carries the plan out. Errors: those of plan_recovery(); invalid_argument: the plan's refusal
[[nodiscard]] Result<RecoveryPlan> recover(const std::filesystem::path& data_dir, RecoveryOptions options = {},
                                           Progress progress = {});

/// What lies in a directory, and what is wrong with it.
struct DirectoryReport {
  std::string what;  ///< "a store", "a node's part of a cluster's store", "a coordinator's cut log", "a backup of the
                     ///< truth only"
  std::uint32_t node = 0;  ///< of a node's part: whose
  VerifyReport report;     ///< of a cut log: `events` positions that were given, `records` cuts that are kept
};

/// Looks what it is, and checks it by its own rules. Nobody has it open meanwhile; changes nothing, so that it is for
/// backups too.
///
/// Errors: not_found, invalid_argument (what is none of these: named), unavailable (open: by whom), corruption (it does
/// not open), cancelled, io
[[nodiscard]] Result<DirectoryReport> verify_directory(const std::filesystem::path& data_dir, Progress progress = {});

struct RestoreOptions {
  std::optional<GlobalPosition> up_to{};  ///< the store ends with it, as if nothing behind it had ever been appended
  /// Called for aggregates whose state cannot be made in it: events that were there at `up_to` were removed since, and
  /// what stands for them is of later versions. May be absent.
  std::function<void(const AggregateId& aggregate)> without_state{};
  /// Told of what is damaged in the source and can be done without, a sentence each: indexes, which are made anew, and
  /// snapshots. May be absent.
  std::function<void(const std::string& what)> left_out{};
};

/// Copies a backup of either kind, or a closed store, into an absent or empty directory, and verifies the copy. Of a
/// backup of the truth, or up to a position, the indexes are made anew.
///
/// Returns: the position it ends with.
/// Errors:  not_found, unavailable (the source is open), invalid_argument (the target holds something; `up_to` is
///          behind the end, or inside of an append, whose first and last position are named), corruption, cancelled, io
[[nodiscard]] Result<GlobalPosition> restore(const std::filesystem::path& source, const std::filesystem::path& target,
                                             RestoreOptions options, Progress progress = {});
[[nodiscard]] Result<GlobalPosition> restore(const std::filesystem::path& source, const std::filesystem::path& target,
                                             Progress progress = {});

/// One row as it lies on the disk.
struct RawRow {
  std::string_view family;
  std::string key_hex;
  std::string key;    ///< decoded, one line of JSON
  std::string value;  ///< decoded, one line of JSON
  std::size_t value_bytes = 0;
};

struct InspectOptions {
  std::string family = "journal";
  std::optional<ShardId> shard{};  ///< families whose keys begin with one: journal, runs
  std::string prefix{};            ///< the key begins with these bytes
};

/// The names of all families.
[[nodiscard]] std::vector<std::string> raw_families();

/// Row by row in order of key, until `see` answers false. Changes nothing; what is indexed in memory only has no rows.
///
/// Errors: not_found, invalid_argument (an unknown family, a shard in a family that has none), unavailable, corruption,
/// io
[[nodiscard]] Result<void> inspect(const std::filesystem::path& data_dir, const InspectOptions& options,
                                   const std::function<bool(const RawRow&)>& see);

}  // namespace evershard
