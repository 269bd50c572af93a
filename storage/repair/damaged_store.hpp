// DamagedStore: a store opened only to be looked at: what is whole of it can be read, nothing is changed.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/options.hpp"
#include "evershard/storage/repair/findings.hpp"
#include "evershard/storage/repair/recover.hpp"
#include "evershard/storage/repair/verification.hpp"
#include "evershard/storage/rocks/database_lock.hpp"
#include "evershard/storage/rocks/rocks_rows.hpp"

namespace evershard::storage {

/// What recover() has to do, and the plan in words.
struct Examination {
  RecoveryPlan plan;
  bool copy_truth = false;     ///< order, journal and state into a new database, up to plan.keeps
  bool renew_indexes = false;  ///< they are dropped, in a copy; what is copied has none
  bool accept_loss = false;
  bool write_mark = false;
  std::vector<std::string> snapshots{};  ///< keys of damaged ones, which are left out
  std::vector<std::string> said_of_snapshots{};
  std::vector<std::string> removals{};  ///< keys of damaged rows of removals, which are left out
};

/// Holds the store's lock: nobody opens it meanwhile.
class DamagedStore {
 public:
  /// A store, or a node's part of one.
  ///
  /// Errors: not_found, invalid_argument (what is neither: named), unavailable, corruption (past all repair), io
  static Result<std::unique_ptr<DamagedStore>> open(const StoreOptions& options);

  /// Errors: cancelled, corruption, io
  Result<Examination> examine(const RecoverOptions& how, const Progress& progress);

  [[nodiscard]] const Rows& rows() const { return *rows_; }
  [[nodiscard]] const Identity& identity() const { return identity_; }
  /// What it could be opened with.
  [[nodiscard]] const RocksOptions& rocks() const { return rocks_; }

 private:
  explicit DamagedStore(const StoreOptions& options) : options_(options), rocks_(options) {}
  Result<void> open_database();
  Result<void> find_end();
  Result<void> check_files(const Progress& progress);
  Result<Examination> examine_node(const RecoverOptions& how, const Progress& progress);
  [[nodiscard]] sharding::CutOf cuts_of() const {
    return identity_.node == 0 ? sharding::CutOf::store : sharding::CutOf::node;
  }
  [[nodiscard]] Verification::Subject subject() const;
  [[nodiscard]] std::vector<std::string> damaged_removals() const;
  Result<void> say_of_state(Examination& made, const Verification& verification) const;
  [[nodiscard]] std::string why_not_read_back() const;
  [[nodiscard]] std::optional<sharding::Cut> cut_of(GlobalPosition position) const;
  [[nodiscard]] GlobalPosition last_whole(const std::vector<Verification::Missing>& missing) const;
  [[nodiscard]] std::string unreadable_end(GlobalPosition keeps) const;
  void say_what_is_lost(Examination& made) const;
  void say_what_a_node_loses(Examination& made) const;

  const StoreOptions options_;
  RocksOptions rocks_;
  std::unique_ptr<DatabaseLock> lock_;
  std::shared_ptr<const RocksFamilies> families_;
  std::unique_ptr<RocksRows> rows_;
  Identity identity_;
  Findings findings_{100};

  GlobalPosition order_end_;                  // as far as cuts or the applied row speak of
  GlobalPosition acknowledged_;               // MARK, or the indexes' mark
  std::optional<GlobalPosition> index_mark_;  // absent: cannot be read
  bool has_mark_file_ = false;
  bool truth_files_damaged_ = false;
  bool index_files_damaged_ = false;
};

}  // namespace evershard::storage
