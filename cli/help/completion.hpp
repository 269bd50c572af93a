// Shell completion: scripts for bash, zsh and fish, made from the table of commands and their options.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/cli/help/help.hpp"

namespace evershard::cli {

/// What a shell can offer for a value.
struct Offer {
  enum class Kind : std::uint8_t { nothing, words, files, directories };
  Kind kind = Kind::nothing;
  std::vector<std::string> words{};

  bool operator==(const Offer&) const = default;
};
[[nodiscard]] Offer offer_for(const Option& option);
[[nodiscard]] Offer offer_for(const Options::Argument& argument);

/// One command, as a shell sees it.
struct ShellCommand {
  std::string name;  ///< one word or two
  std::string sentence;
  Options options;
};
[[nodiscard]] std::vector<ShellCommand> shell_commands(const Program& program);

/// The name of a shell function: the program's, of letters, digits and `_`.
[[nodiscard]] std::string function_name(const Program& program);

[[nodiscard]] std::string bash_completion(const Program& program);
[[nodiscard]] std::string zsh_completion(const Program& program);
[[nodiscard]] std::string fish_completion(const Program& program);

}  // namespace evershard::cli
