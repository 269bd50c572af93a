// The exact state of an aggregate at any version, made by the `apply` of the program that this is the command line of.

#pragma once

#include <optional>
#include <string>

#include "evershard/api/json/moment.hpp"
#include "evershard/cli/aggregates/state_text.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::cli {

struct ExactState {
  StateText text;
  std::optional<RecordedSnapshot>
      snapshot;                   ///< that the events behind it were applied to; absent: to nothing, from the first on
  std::string snapshot_not_used;  ///< why the newest snapshot was not taken; empty: it was, or there is none
};

/// Shape:  the program has the aggregate's kind.
/// Errors: corruption: an event that its program does not know or cannot apply, or whose payload was removed; what
/// reading fails with
[[nodiscard]] tl::expected<ExactState, Failure> exact_state(const Invocation& invocation, EventStore& store,
                                                            const AggregateId& aggregate, const Moment& at,
                                                            const PayloadTypes& types);

}  // namespace evershard::cli
