// The table of commands, and of the groups they come in.

#pragma once

#include <string_view>
#include <vector>

#include "evershard/cli/command.hpp"

namespace evershard::cli {

/// The commands of two words that begin with the same one.
struct CommandGroup {
  const char* word;
  const char* sentence;  ///< what they are for
  const char* example;
};
[[nodiscard]] const std::vector<CommandGroup>& command_groups();
/// Null: no command of two words begins with it.
[[nodiscard]] const CommandGroup* command_group(std::string_view word);

/// In the order of --help, groups together.
[[nodiscard]] const std::vector<Command>& commands();

}  // namespace evershard::cli
