// Recover: a store that does not open, or opens with damage: what is lost, and opening it with what is left.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/options.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::storage {

/// Positions [from, until) that hold nothing that can be read.
struct Hole {
  GlobalPosition from;
  GlobalPosition until;
  friend bool operator==(const Hole&, const Hole&) = default;
};

/// What is wrong with a store, and what recover() does about it.
struct RecoveryPlan {
  GlobalPosition acknowledged;  ///< MARK and the indexes know of positions up to here
  GlobalPosition keeps;         ///< the store ends here afterwards: its last whole cut, or the one `cut_back` leaves
  std::uint64_t lost = 0;       ///< acknowledged events that will be gone: behind `keeps`, or in `holes`
  std::uint32_t node = 0;       ///< of a cluster: whose part this is; 0: a whole store
  /// Of a node's part: events behind `keeps` may be gone. Only the coordinator knows which of these events were the
  /// node's own.
  bool more_may_be_lost = false;
  /// Inside of what is kept, events whose record is missing or damaged: nothing is put in their place, reading them
  /// says `corruption`. At most 100 ranges.
  std::vector<Hole> holes;
  std::vector<std::string> findings;  ///< what is damaged or missing, a sentence each, with file or place; at most 100
  std::vector<std::string> steps;     ///< what recover() does, in this order; empty: nothing, the store is fine
  std::vector<std::string> unmended;  ///< of the findings those that no step mends; holes are not among them
  /// Empty, or why recover() refuses as it was asked, and what to ask for instead.
  std::string refusal;
};

struct RecoverOptions {
  /// Of a whole store. Ends the store before the first hole: what is left is dense, and everything behind it is lost.
  bool cut_back = false;
};

/// Looks, changes nothing. The store is not open. Of a node's part indexes are mended, and a log that lost its end;
/// where its records, cuts or state are damaged, `refusal` says what to do instead.
///
/// Errors: not_found (no store), unavailable (opened by another process), invalid_argument (what is neither a store nor
///         a node's part: named), corruption (past all repair: says what), cancelled, io
/// Cost:   reads everything once.
[[nodiscard]] Result<RecoveryPlan> plan_recovery(const StoreOptions& options, const RecoverOptions& how = {},
                                                 const Progress& progress = {});

/// Carries the plan out: accepts what is lost, ends the order with a whole cut, makes all indexes anew from journal and
/// order, writes MARK. The store opens afterwards. All of it is done in a copy, which is opened before it takes the
/// database's place; that is kept, as `db.damaged-1` and so on. A node's part stays of its cluster.
///
/// Errors: those of plan_recovery(); invalid_argument: the plan's refusal. A recovery that was broken off at any step
/// can be begun again.
/// Returns: the plan it carried out.
[[nodiscard]] Result<RecoveryPlan> recover(const StoreOptions& options, const RecoverOptions& how = {},
                                           const Progress& progress = {});

}  // namespace evershard::storage
