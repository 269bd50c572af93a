// Errors as values: a small list of codes, divided by what the caller can do about it.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/version.hpp"

namespace evershard {

/// Distinct, typed, never one for another.
enum class ErrorCode : std::uint8_t {
  version_conflict = 1,  ///< an aggregate is not at the expected version: read it again and decide again
  condition_failed,      ///< an event matches an append condition: read again and decide again
  duplicate_event,       ///< an event id is stored already, by another request
  not_found,
  invalid_argument,
  invalid_query,
  too_large,          ///< over a limit, which `what` names
  wrong_shard,        ///< the shard lives elsewhere
  fenced,             ///< a newer writer owns the shard
  unavailable,        ///< not now; names the shard, or the full disk
  overloaded,         ///< a bounded queue is full: try again later
  timeout,            ///< outcome unknown
  corruption,         ///< damaged data was found; never served
  io,                 ///< the store has failed for good; the outcome of what was under way is unknown
  cancelled,          ///< the caller asked for it
  unauthenticated,    ///< no token, or one that is not known
  permission_denied,  ///< a token whose scopes do not reach so far
  already_exists,     ///< what was to be created has a name that is taken
};
/// Codes of newer releases are greater.
inline constexpr ErrorCode error_code_last = ErrorCode::already_exists;

/// `version_conflict` etc., as in documents, JSON and the wire.
std::string_view name_of(ErrorCode code);
std::optional<ErrorCode> error_code_of(std::string_view name);

/// The values that decided a refusal. Which are set follows from the code.
struct ErrorDetails {
  std::optional<AggregateId> aggregate;     ///< version_conflict
  std::optional<ExpectedVersion> expected;  ///< version_conflict
  std::optional<SeqNr> actual;              ///< version_conflict: the version it has
  std::optional<std::uint32_t> condition;   ///< condition_failed: which, from 0, in the append's order
  std::optional<GlobalPosition>
      position;  ///< condition_failed: first conflicting event; duplicate_event: the earlier one
  std::optional<ShardId> shard;
  std::optional<ShardOffset> offset;
  bool lasting = false;  ///< unavailable: until somebody mends it; trying again alone changes nothing

  friend bool operator==(const ErrorDetails&, const ErrorDetails&) = default;
};

struct Error {
  ErrorCode code{};
  std::string what;  ///< one sentence with the values that decide it
  std::shared_ptr<const ErrorDetails> details;

  Error() = default;
  Error(ErrorCode c, std::string w) : code(c), what(std::move(w)) {}
  Error(ErrorCode c, std::string w, ErrorDetails d)
      : code(c), what(std::move(w)), details(std::make_shared<const ErrorDetails>(std::move(d))) {}

  [[nodiscard]] bool lasting() const { return details && details->lasting; }

  /// Equal in code, text and details.
  friend bool operator==(const Error& a, const Error& b);
};

}  // namespace evershard
