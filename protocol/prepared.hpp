// CommandPrepared: what an outside service was asked for a command, and what it answered.

#pragma once

#include <string>
#include <string_view>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// An event of the aggregate's stream, before those that the command wrote, in the same append.
inline constexpr std::string_view command_prepared_type = "$CommandPrepared";

struct CommandPrepared {
  std::string command{};  ///< logical name, as the other types
  std::string question_type{};
  std::string question{};
  std::string answer_type{};  ///< empty: it has none
  std::string answer{};

  friend bool operator==(const CommandPrepared&, const CommandPrepared&) = default;
};

/// For who answers a question once: the same for a command of that id, of that aggregate, of that store, and for no
/// other. `fork`: which store, and which copy of it. Without an id it is random.
[[nodiscard]] std::string prepare_key(std::string_view fork, const AggregateId& aggregate, std::string_view command_id);

[[nodiscard]] std::string encode(const CommandPrepared& prepared);
/// Errors: corruption
[[nodiscard]] Result<CommandPrepared> decode_command_prepared(std::string_view bytes);

}  // namespace evershard
