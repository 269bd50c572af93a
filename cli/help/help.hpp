// Help: what --help says, made from the table of commands and the options' structs.

#pragma once

#include <string>
#include <string_view>

#include "evershard/cli/commands.hpp"

namespace evershard::cli {

/// `help`, which is in no table.
inline constexpr std::string_view help_sentence = "Shows what a command does and takes, with an example.";

/// The command's own options and those that all have.
[[nodiscard]] Options options_of(const Command& command, const Program& program);
/// Every command in a line, by group.
[[nodiscard]] std::string overview(const Program& program);
[[nodiscard]] std::string help_of(const Command& command, const Program& program);
/// What its commands are for, an example, and a line for each.
[[nodiscard]] std::string help_of(const CommandGroup& group, const Program& program);

}  // namespace evershard::cli
