// TruthSource: order, journal and state of a store at one moment, to be copied.

#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/rocks/database_lock.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::storage {

inline constexpr const char* backup_of_memory =
    "a backup is made of an open store on disk; this one is in memory, or closed";

inline constexpr const char* node_is_copied_whole =
    "a node's part of a cluster's store is copied whole, up to where it is: without indexes, or up to a position, it "
    "cannot be";

class TruthSource {
 public:
  /// Of a store that runs, and goes on. Errors: invalid_argument (in memory, or closed), corruption, io
  static Result<TruthSource> of(const Store& store);
  /// Of a closed store, or a backup of either kind: nobody opens it while this lives.
  /// Errors: unavailable (open), invalid_argument (a newer format), corruption, io
  static Result<TruthSource> of_closed(const std::filesystem::path& folder);

  [[nodiscard]] const Rows& rows() const { return *rows_; }
  [[nodiscard]] const Identity& identity() const { return identity_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] GlobalPosition end() const { return end_; }
  /// It is known that positions up to here were given, by its marks too: more than end() where something was lost.
  [[nodiscard]] GlobalPosition acknowledged() const { return acknowledged_; }

  /// Where a copy up to `up_to` ends; absent: where the source does.
  ///
  /// Errors: invalid_argument: the source ends before it; or it lies inside of an append, whose first and last position
  ///         are named: an append is copied whole or not at all corruption: it was acknowledged, and is lost; its event
  ///         cannot be read io
  [[nodiscard]] Result<GlobalPosition> end_of_copy(std::optional<GlobalPosition> up_to) const;

 private:
  TruthSource() = default;
  Result<void> find_end(GlobalPosition sealed);

  std::unique_ptr<DatabaseLock> lock_;  // goes last
  std::unique_ptr<const Rows> rows_;
  Identity identity_;
  std::filesystem::path folder_;
  GlobalPosition end_;
  GlobalPosition acknowledged_;  // MARK and the indexes know of positions up to here; of a store that runs: end_
};

}  // namespace evershard::storage
