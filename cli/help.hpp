// Help: what --help says, made from the table of commands and the options' structs.

#pragma once

#include <string>
#include <string_view>

#include "evershard/cli/command.hpp"

namespace evershard::cli {

/// The command's own options and those that all have.
[[nodiscard]] Options options_of(const Command& command, const Program& program);
/// Every command in a line, by group.
[[nodiscard]] std::string overview(const Program& program);
[[nodiscard]] std::string help_of(const Command& command, const Program& program);
/// `snapshot put, snapshot get or snapshot list`: the commands that begin with a word.
[[nodiscard]] std::string group_of_two(const std::string& word);
/// The commands that begin with a word, a line each; empty: there are none.
[[nodiscard]] std::string overview_of_group(const std::string& word, const Program& program);
/// 0.1.0
[[nodiscard]] std::string_view version_number();
[[nodiscard]] std::string version_text();

}  // namespace evershard::cli
