// The script for fish: a line a command, and a line an option, with the commands that have it.

#include <vector>

#include "evershard/cli/help/completion.hpp"

namespace evershard::cli {
namespace {

std::string fish_word(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return quoted + '\'';
}

/// What stands behind the condition of an option.
std::string fish_offer(const Offer& offer) {
  if (offer.kind == Offer::Kind::files) return " -r -F";
  if (offer.kind == Offer::Kind::directories) return " -x -a '(__fish_complete_directories)'";
  std::string words;
  for (const auto& word : offer.words) words += (words.empty() ? "" : " ") + word;
  return words.empty() ? " -x" : " -x -a " + fish_word(words);
}

std::string fish_option(const Option& option) {
  std::string text = " -l " + option.name + (option.short_name.empty() ? "" : " -s " + option.short_name);
  if (!option.is_flag()) text += fish_offer(offer_for(option));
  return text + " -d " + fish_word(option.sentence) + '\n';
}

constexpr std::string_view fish_functions = R"(
# The words of the command line in front of the cursor, without the program and its options.
function __@name@_typed
    set -l typed (commandline -opc)
    set -e typed[1]
    string match -v -- '-*' $typed
end
# Whether the words are exactly these.
function __@name@_follows
    set -l typed (__@name@_typed)
    test "$typed" = "$argv[1]"
end
# Whether the command is one of these.
function __@name@_in
    set -l typed (__@name@_typed)
    contains -- "$typed[1]" $argv; or contains -- "$typed[1..2]" $argv
end
)";

std::string fish_line(const Program& program, const std::string& condition, const std::string& rest) {
  return "complete -c " + program.name() + " -n " + fish_word("__" + function_name(program) + '_' + condition) + rest;
}

std::string fish_offered_word(const Program& program, const std::string& behind, const std::string& word,
                              const std::string& sentence) {
  const auto rest = " -a " + word + " -d " + fish_word(sentence) + '\n';
  return fish_line(program, "follows \"" + behind + '"', rest) +
         fish_line(program, "follows \"help" + (behind.empty() ? "" : ' ' + behind) + '"', rest);
}

}  // namespace

std::string fish_completion(const Program& program) {
  std::string text = "# Completion of " + program.name() + " in fish. `" + program.name() +
                     " completion fish` printed it from the table of commands.\n";
  std::string functions(fish_functions);
  for (std::size_t at = 0; (at = functions.find("@name@", at)) != std::string::npos;)
    functions.replace(at, 6, function_name(program));
  text += functions + "\ncomplete -c " + program.name() + " -f\n";
  text += fish_line(program, "follows \"\"", " -a help -d " + fish_word(std::string(help_sentence)) + '\n');
  for (const auto& group : command_groups()) text += fish_offered_word(program, "", group.word, group.sentence);

  struct Line {
    std::string rest;
    std::string commands;
  };
  std::vector<Line> lines;  // in order of first use
  const auto add = [&](const std::string& command, const std::string& rest) {
    for (auto& line : lines) {
      if (line.rest != rest) continue;
      line.commands += " \"" + command + '"';
      return;
    }
    lines.push_back({rest, " \"" + command + '"'});
  };
  for (const auto& command : shell_commands(program)) {
    const auto blank = command.name.find(' ');
    text += blank == std::string::npos ? fish_offered_word(program, "", command.name, command.sentence)
                                       : fish_offered_word(program, command.name.substr(0, blank),
                                                           command.name.substr(blank + 1), command.sentence);
    for (const auto& option : command.options.all()) add(command.name, fish_option(option));
    for (const auto& argument : command.options.arguments()) {
      const auto offer = offer_for(argument);
      if (offer.kind == Offer::Kind::files) add(command.name, " -F\n");
      if (offer.kind == Offer::Kind::directories) add(command.name, " -a '(__fish_complete_directories)'\n");
      if (offer.kind == Offer::Kind::words) add(command.name, fish_offer(offer).substr(3) + '\n');
    }
  }
  for (const auto& line : lines) text += fish_line(program, "in" + line.commands, line.rest);
  return text;
}

}  // namespace evershard::cli
