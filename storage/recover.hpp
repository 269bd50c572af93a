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
  /// Inside of what is kept, events whose record is missing or damaged: nothing is put in their place, reading them says
  /// `corruption`. At most 100 ranges.
  std::vector<Hole> holes;
  std::vector<std::string> findings;  ///< what is damaged or missing, a sentence each, with file or place; at most 100
  std::vector<std::string> steps;     ///< what recover() does, in this order; empty: nothing, the store is fine
  /// Empty, or why recover() refuses as it was asked, and what to ask for instead.
  std::string refusal;
};

struct RecoverOptions {
  /// Ends the store before the first hole: what is left is dense, and everything behind it is lost.
  bool cut_back = false;
};

/// Looks, changes nothing. The store is not open.
///
/// Errors: not_found (no store), unavailable (opened by another process), invalid_argument (a node's part of a store, or a coordinator's cut log),
///         corruption (past all repair: says what), cancelled, io
/// Cost:   reads everything once.
[[nodiscard]] Result<RecoveryPlan> plan_recovery(const StoreOptions& options, const RecoverOptions& how = {}, const Progress& progress = {});

/// Carries the plan out: accepts what is lost, ends the order with a whole cut, makes all indexes anew from journal and
/// order, writes MARK. The store opens afterwards.
///
/// Errors: those of plan_recovery(); invalid_argument: the plan's refusal. Broken off anywhere, it can be begun again.
/// Returns: the plan it carried out.
[[nodiscard]] Result<RecoveryPlan> recover(const StoreOptions& options, const RecoverOptions& how = {}, const Progress& progress = {});

}  // namespace evershard::storage
