// `evershard completion`: a script for a shell.

#include "evershard/cli/help/completion.hpp"

#include <algorithm>
#include <cctype>

namespace evershard::cli {
namespace {

/// By what help calls a value: FILE and FILE.pb are files, DIR is a directory.
Offer offer_by_name(std::string_view name) {
  if (name.starts_with("FILE") || name == "PATH") return {Offer::Kind::files};
  if (name == "DIR" || name == "STORE" || name == "SOURCE" || name == "TARGET") return {Offer::Kind::directories};
  return {};
}

Options completion_options() {
  Options options;
  options.argument("SHELL", "bash, zsh or fish").one_of({"bash", "zsh", "fish"});
  return options;
}

Outcome run_completion(const Invocation& invocation) {
  const auto shell = invocation.arguments.required("SHELL");
  const auto& program = invocation.program;
  invocation.out.write(shell == "bash"  ? bash_completion(program)
                       : shell == "zsh" ? zsh_completion(program)
                                        : fish_completion(program));
  return {};
}

}  // namespace

Offer offer_for(const Option& option) {
  if (!option.choices.empty()) return {Offer::Kind::words, option.choices};
  return offer_by_name(option.placeholder);
}

Offer offer_for(const Options::Argument& argument) {
  if (!argument.choices.empty()) return {Offer::Kind::words, argument.choices};
  return offer_by_name(argument.name);
}

std::vector<ShellCommand> shell_commands(const Program& program) {
  std::vector<ShellCommand> all;
  for (const auto& command : commands()) all.push_back({command.name, command.sentence, options_of(command, program)});
  return all;
}

std::string function_name(const Program& program) {
  std::string name = program.name();
  for (auto& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

Command completion_command() {
  return {"completion",
          "help",
          "Prints a script that completes commands and options in a shell.",
          "source <(evershard completion bash)",
          completion_options,
          run_completion,
          nullptr,
          "Packages install these scripts. For zsh, write it to a file _evershard in a folder of $fpath; for fish, to "
          "~/.config/fish/completions/evershard.fish."};
}

}  // namespace evershard::cli
