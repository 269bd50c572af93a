#include "evershard/doors/remote/write_outcome.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace evershard::remote {
namespace {

/// A server that says so has looked at the write: an earlier try that was stored would have been answered with that.
bool is_decision(ErrorCode code) {
  switch (code) {
    case ErrorCode::version_conflict:
    case ErrorCode::condition_failed:
    case ErrorCode::duplicate_event:
    case ErrorCode::already_exists:
    case ErrorCode::not_found:
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_query:
    case ErrorCode::too_large:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool never_sent(const Error& error) {
  constexpr std::string_view not_sent[] = {"failed to connect to all addresses",
                                           "DNS resolution failed",
                                           "errors resolving ",
                                           "Name resolution failed",
                                           "No connection established",
                                           "connections to all backends",
                                           no_connection};
  if (error.code != ErrorCode::unavailable) return false;
  return std::ranges::any_of(not_sent, [&](std::string_view why) { return error.what.starts_with(why); });
}

void WriteOutcome::failed(const Error& error, bool told) {
  const bool lost = error.code == ErrorCode::unavailable && !told && !never_sent(error);
  unknown_ = unknown_ || lost || error.code == ErrorCode::timeout;
}

Error WriteOutcome::end(Error last, bool told) const {
  if (!unknown_ || last.code == ErrorCode::timeout || (told && is_decision(last.code))) return last;
  return {ErrorCode::timeout, "whether it was done is unknown: the same again tells (" + last.what + ')'};
}

}  // namespace evershard::remote
