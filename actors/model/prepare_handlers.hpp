// PrepareHandlers: who answers the questions of an aggregate's commands, as bytes. Preparations is their typed side.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

struct PrepareOptions {
  std::uint32_t at_a_time = 64;  ///< questions of this kind under way, of all aggregates that are hosted here
};

struct PrepareAttempt {
  AggregateId aggregate;
  /// The same each time that a command with this command_id asks, and of no other: for who answers it once. Of a
  /// command without an id it is random.
  std::string key;
};

/// Told once, from any thread.
using PrepareDone = std::function<void(Result<std::string> answer)>;
struct PrepareHandler {
  std::function<void(const std::string& question, const PrepareAttempt& attempt, PrepareDone done)> ask;
  PrepareOptions options;
};
/// By the question's logical name.
using PrepareHandlers = std::map<std::string, PrepareHandler>;

}  // namespace evershard
