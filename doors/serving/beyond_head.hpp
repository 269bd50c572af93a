// Who follows a store from a position that it does not have.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "evershard/doors/serving/served.hpp"
#include "evershard/protocol/beyond_head.hpp"

namespace evershard::serving {

/// Whether a position is one that this store does not have: it is of another history, before a restore or of another
/// store. Of a node that may be a moment behind the others it is said after `may_be_behind` alone.
/// Errors: those of head()
[[nodiscard]] inline Result<std::optional<Error>> beyond_head(const Served& served, GlobalPosition after) {
  const auto head = served.store.head();
  if (!head) return refuse(head.error());
  if (after <= *head) return std::optional<Error>();
  return std::optional(evershard::beyond_head(after, *head, served.fork));
}

/// How long a node of a cluster is given to come as far as others are.
inline constexpr auto may_be_behind = std::chrono::seconds(5);

}  // namespace evershard::serving
