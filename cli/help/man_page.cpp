#include "evershard/cli/help/man_page.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "evershard/cli/help/help.hpp"
#include "evershard/cli/help/version.hpp"

namespace evershard::cli {
namespace {

/// Text as it stands: \ and - mean something to roff, and so does what begins a line.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && escaped.empty()) escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  return escaped;
}

std::string upper(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string section(const std::string& title) { return ".SH " + upper(title) + '\n'; }
std::string entry(const std::string& head, std::string_view sentence) {
  return ".TP\n" + head + '\n' + roff(sentence) + '\n';
}

std::string option_entry(const Option& option, const Program& program) {
  std::string head = "\\fB\\-\\-" + roff(option.name) + "\\fR";
  if (!option.short_name.empty()) head = "\\fB\\-" + option.short_name + "\\fR, " + head;
  if (!option.is_flag()) head += " \\fI" + roff(option.placeholder) + "\\fR";
  auto sentence = program.said(option.sentence);
  if (!option.by_default.empty()) sentence += " (default " + option.by_default + ')';
  return entry(head, sentence);
}

bool same(const Option& a, const Option& b) {
  return a.name == b.name && a.placeholder == b.placeholder && a.sentence == b.sentence && a.by_default == b.by_default;
}

std::string command_text(const Command& command, const std::vector<Option>& common, const Program& program) {
  const auto options = options_of(command, program);
  std::string text =
      ".SS \"" + program.name() + ' ' + command.name + "\"\n\\fB" + roff(program.name()) + ' ' + command.name + "\\fR";
  for (const auto& argument : options.arguments())
    text += argument.required ? " \\fI" + roff(argument.name) + "\\fR" : " [\\fI" + roff(argument.name) + "\\fR]";
  text += " [options]\n.PP\n" + roff(command.sentence) + '\n';
  if (*command.details != '\0') text += roff(program.said(command.details)) + '\n';
  for (const auto& argument : options.arguments())
    text += entry("\\fI" + roff(argument.name) + "\\fR", program.said(argument.sentence));
  std::string shared;
  for (const auto& option : options.all()) {
    const auto is_same = [&](const Option& known) { return same(known, option); };
    if (std::any_of(common.begin(), common.end(), is_same))
      shared += (shared.empty() ? "\\fB\\-\\-" : ", \\fB\\-\\-") + roff(option.name) + "\\fR";
    else
      text += option_entry(option, program);
  }
  return text + ".PP\nAlso " + shared + ": see OPTIONS OF MANY COMMANDS.\n.PP\nExample:\n.PP\n.RS 4\n.nf\n" +
         roff(program.said(command.example)) + "\n.fi\n.RE\n";
}

/// `--data` for EVERSHARD_DATA: the options whose sentence names a variable of the environment.
std::string environment_text(const std::vector<Option>& options) {
  std::string text;
  for (const auto& option : options) {
    const auto at = option.sentence.find("EVERSHARD_");
    if (at == std::string::npos) continue;
    const auto end = option.sentence.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", at);
    text += entry("\\fB" + option.sentence.substr(at, end - at) + "\\fR",
                  "stands for --" + option.name + " where that is not given");
  }
  return text;
}

}  // namespace

std::string man_page(const Program& program) {
  auto common = store_options().all();
  const auto all_have = options_of(commands().front(), program).all();
  common.insert(common.end(), all_have.end() - 2, all_have.end());  // --format and --help

  const auto name = roff(program.name());
  std::string text = ".\\\" `" + program.name() + " help --man` printed this from the table of commands.\n.TH " +
                     upper(program.name()) + " 1 \"\" \"" + program.name() + ' ' + std::string(version_number()) +
                     "\" \"User Commands\"\n";
  text += section("name") + name + " \\- an event store\n";
  text += section("synopsis") + "\\fB" + name + "\\fR \\fICOMMAND\\fR [options]\n";
  text += section("description") +
          "Evershard stores events in streams, one for each aggregate, and in one global order over all streams.\n"
          "Each command works on a store's directory (\\fB\\-\\-data\\fR) or, where it can, on a running server "
          "(\\fB\\-\\-server\\fR).\nOptions come after the command. \\fB\\-\\-name value\\fR and "
          "\\fB\\-\\-name=value\\fR are the same.\n.PP\n" +
          roff(
              "Durations are whole numbers with a unit: 500ms, 12s, 5min, 2h, 90d. Sizes are whole numbers of bytes, "
              "or have a unit: 64KiB, 16MiB, 1GB.") +
          '\n';
  text += section("options of many commands");
  for (const auto& option : common) text += option_entry(option, program);
  std::string group;
  for (const auto& command : commands()) {
    if (group != command.group) text += section("commands: " + (group = command.group));
    text += command_text(command, common, program);
  }
  text += section("environment") + environment_text(common);
  text += section("exit status");
  for (const auto& [exit, word] : exit_words())
    text += entry("\\fB" + std::to_string(static_cast<int>(exit)) + "\\fR", word);
  return text;
}

}  // namespace evershard::cli
