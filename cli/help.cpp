#include "evershard/cli/help.hpp"

#include <sstream>

#include "evershard/cli/commands.hpp"

namespace evershard::cli {
namespace {

std::string padded(std::string text, std::size_t columns) {
  text.resize(std::max(text.size(), columns), ' ');
  return text;
}

}  // namespace

Options options_of(const Command& command, const Program& program) {
  Options options = command.options();
  if (program.has_aggregates() && command.options_with_aggregates != nullptr) command.options_with_aggregates(options);
  options.value("format", "FORMAT", "table, json or jsonl; else a table on a terminal, JSON Lines in a pipe");
  options.flag("help,h", "this text");
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
    text += "  " + padded(command.name, 22) + command.sentence + '\n';
  }
  return text + "\nhelp\n  " + padded("help COMMAND", 22) +
         "What a command takes, with an example; also COMMAND --help.\n  " + padded("version", 22) +
         "Which version this is; also --version.\n" +
         "\nExit status: 0 done, 2 usage, 3 conflict, 4 not found, 5 invalid, 6 unavailable, 7 timeout, 8 corruption, "
         "9 io, 10 denied, 130 interrupted.\n";
}

std::string help_of(const Command& command, const Program& program) {
  const Options options = options_of(command, program);
  std::string usage = program.name() + ' ' + command.name;
  std::size_t widest = 0;
  for (const auto& argument : options.arguments()) {
    usage += argument.required ? ' ' + argument.name : " [" + argument.name + ']';
    widest = std::max(widest, argument.name.size());
  }
  std::ostringstream text;
  text << command.sentence << "\n\n  " << usage << " [options]\n\nExample:\n  " << program.said(command.example)
       << "\n";
  if (!options.arguments().empty()) text << "\nArguments:\n";
  for (const auto& argument : options.arguments())
    text << "  " << padded(argument.name, widest + 2) << argument.sentence << '\n';
  std::ostringstream described;
  described << options.described();
  text << '\n' << program.said(described.str());
  return text.str();
}

std::string group_of_two(const std::string& word) {
  std::string list;
  for (const auto& command : commands()) {
    if (std::string(command.name).starts_with(word + ' '))
      list += (list.empty() ? "one of: " : ", ") + std::string(command.name);
  }
  return list;
}

std::string overview_of_group(const std::string& word, const Program& program) {
  std::string lines;
  for (const auto& command : commands())
    if (std::string(command.name).starts_with(word + ' '))
      lines += "  " + padded(command.name, 22) + command.sentence + '\n';
  if (lines.empty()) return {};
  return lines + "\n" + program.name() + " help " + word + " COMMAND says what one of them takes.\n";
}

std::string_view version_number() { return EVERSHARD_VERSION; }

std::string version_text() { return std::string("evershard ") + EVERSHARD_VERSION + '\n'; }

}  // namespace evershard::cli
