#include "evershard/cli/help/help.hpp"

#include <iterator>
#include <sstream>
#include <vector>

namespace evershard::cli {
namespace {

constexpr std::size_t help_columns = 100;

std::string padded(std::string text, std::size_t columns) {
  text.resize(std::max(text.size(), columns), ' ');
  return text;
}

std::string command_line_of(const std::string& name, const std::string& sentence) {
  return "  " + padded(name, 22) + sentence + '\n';
}

/// As many words in a line as fit.
std::string wrapped(const std::vector<std::string>& words) {
  std::string lines;
  std::size_t line = 0;
  for (const auto& word : words) {
    const bool fits = line + 1 + word.size() <= help_columns;
    if (line != 0) lines += fits ? ' ' : '\n';
    line = fits && line != 0 ? line + 1 + word.size() : word.size();
    lines += word;
  }
  return lines + '\n';
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

Options options_of(const Command& command, const Program& program) {
  Options options = command.options();
  if (program.has_aggregates() && command.options_with_aggregates != nullptr) command.options_with_aggregates(options);
  options.value("format", "FORMAT", "table, json or jsonl; without it, a table on a terminal, JSON Lines in a pipe")
      .one_of({"table", "json", "jsonl"});
  options.flag("help,h", "show this help");
  return options;
}

std::string overview(const Program& program) {
  std::string text = program.name() + ": an event store";
  for (const auto& type : program.aggregate_types())
    text += (text.find(" with") == std::string::npos ? ", with the aggregates " : ", ") + type;
  text += "\n\n  " + program.name() + " COMMAND [options]\n";
  std::string group;
  for (const auto& command : commands()) {
    if (group != command.group) text += '\n' + (group = command.group) + '\n';
    text += command_line_of(command.name, command.sentence);
  }
  text += command_line_of("help COMMAND", std::string(help_sentence));
  std::vector<std::string> statuses{"Exit status:"};
  for (const auto& [exit, word] : exit_words())
    statuses.push_back(std::to_string(static_cast<int>(exit)) + ' ' + word + (exit == Exit::interrupted ? "." : ","));
  return text + '\n' + wrapped(statuses);
}

std::string help_of(const Command& command, const Program& program) {
  const Options options = options_of(command, program);
  std::string usage = program.name() + ' ' + command.name;
  std::size_t widest = 0;
  for (const auto& argument : options.arguments()) {
    usage += argument.required ? ' ' + argument.name : " [" + argument.name + ']';
    widest = std::max(widest, argument.name.size());
  }
  const std::string details = command.details;
  std::ostringstream text;
  text << command.sentence << '\n' << (details.empty() ? "" : wrapped(words_of(program.said(details))));
  text << "\n  " << usage << " [options]\n\nExample:\n  " << program.said(command.example) << "\n";
  if (!options.arguments().empty()) text << "\nArguments:\n";
  for (const auto& argument : options.arguments())
    text << "  " << padded(argument.name, widest + 2) << argument.sentence << '\n';
  std::ostringstream described;
  described << options.described();
  text << '\n' << program.said(described.str());
  return text.str();
}

std::string help_of(const CommandGroup& group, const Program& program) {
  const std::string word = group.word;
  std::string text = std::string(group.sentence) + "\n\n  " + program.name() + ' ' + word +
                     " COMMAND [options]\n\nExample:\n  " + program.said(group.example) + "\n\nCommands:\n";
  for (const auto& command : commands()) {
    if (std::string(command.name).starts_with(word + ' ')) text += command_line_of(command.name, command.sentence);
  }
  return text + "\n`" + program.name() + " help " + word + " COMMAND` shows what one of them takes.\n";
}

}  // namespace evershard::cli
