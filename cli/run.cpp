#include "evershard/cli/run.hpp"

#include <unistd.h>

#include <algorithm>

#include "evershard/cli/commands.hpp"
#include "evershard/cli/help/help.hpp"
#include "evershard/cli/help/man_page.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

void complain(std::string_view line) {
  Output error(STDERR_FILENO);
  error.write(line);
}

/// Whether errors are wanted as JSON; looked for by hand, since the command line may be the mistake.
bool json_asked_for(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string value = words[i] == "--format" && i + 1 < words.size() ? words[i + 1]
                              : words[i].starts_with("--format=")            ? words[i].substr(9)
                                                                             : "";
    if (value == "json" || value == "jsonl") return true;
  }
  return false;
}

/// What was probably meant, of a command that there is not.
std::string hint_for(const std::vector<std::string>& words) {
  std::vector<std::string> names, of_the_group, elsewhere;
  for (const auto& command : commands()) {
    const std::string name = command.name;
    names.push_back(name);
    const auto blank = name.find(' ');
    if (blank == std::string::npos) continue;
    if (name.substr(0, blank) == words.front()) of_the_group.push_back(name);
    if (name.substr(blank + 1) == words.front()) elsewhere.push_back(name);
  }
  if (!of_the_group.empty()) {
    const auto near = near_ones(words.front() + ' ' + words[1], of_the_group, near_shown);
    return near.empty() ? "`evershard help " + words.front() + "` lists its commands" : did_you_mean(near);
  }
  for (const auto& group : command_groups()) names.emplace_back(group.word);
  names.emplace_back("help");
  auto near = words.size() > 1 ? near_ones(words[0] + ' ' + words[1], names, near_shown) : std::vector<std::string>{};
  if (near.empty()) near = near_ones(words.front(), names, near_shown);
  near.insert(near.begin(), elsewhere.begin(), elsewhere.end());  // who writes `state` knows the second word
  near.resize(std::min(near.size(), near_shown));
  return near.empty() ? "`evershard help` lists the commands" : did_you_mean(near);
}

UsageError unknown_command(std::vector<std::string> words) {
  words.resize(std::min<std::size_t>(words.size(), 2));
  if (words.size() == 2 && words[1].starts_with('-')) words.pop_back();
  const bool group = words.size() == 2 && command_group(words[0]) != nullptr;
  return UsageError("unknown command " + in_quotes(group ? words[0] + ' ' + words[1] : words[0]), hint_for(words));
}

/// The command that the first word, or the first two, name.
const Command& found(const std::vector<std::string>& words, std::size_t& used) {
  for (used = std::min<std::size_t>(2, words.size()); used > 0; --used) {
    const std::string name = used == 2 ? words[0] + ' ' + words[1] : words[0];
    for (const auto& command : commands()) {
      if (name == command.name) return command;
    }
  }
  throw unknown_command(words);
}

/// `help`, `help help`, `help --help`.
bool asks_for_all(const std::vector<std::string>& words) {
  if (words[0] != "help" || words.size() > 2) return false;
  return words.size() == 1 || words[1] == "help" || words[1] == "--help" || words[1] == "-h";
}

/// `help group`, `group --help`. Null: no group is asked about.
const CommandGroup* group_asked_about(const std::vector<std::string>& words) {
  if (words.size() != 2) return nullptr;
  if (words[0] == "help") return command_group(words[1]);
  return words[1] == "--help" || words[1] == "-h" ? command_group(words[0]) : nullptr;
}

/// `group`, perhaps with options: its help, as an error, since nothing was done. Null: it is something else.
const CommandGroup* group_alone(const std::vector<std::string>& words) {
  const auto* group = command_group(words.front());
  return group != nullptr && (words.size() == 1 || words[1].starts_with('-')) ? group : nullptr;
}

Format chosen(const Arguments& arguments, const Terminal& terminal) {
  const auto given = arguments.text("format");
  if (!given) return terminal.output ? Format::table : Format::jsonl;
  return format_of(*given).value_or(Format::table);
}

Exit finish(const Outcome& outcome, const Output& out, const Program& program, bool json) {
  if (!outcome) {
    if (!outcome.error().quiet) complain(text_of(outcome.error(), program, json));
    return exit_of(outcome.error().error.code);
  }
  if (auto written = out.status(); !written) {
    complain(text_of(Failure(written.error()), program, json));
    return Exit::io;
  }
  return Exit::done;
}

Exit run_command(const Command& command, const std::vector<std::string>& words, const Program& program,
                 const Terminal& terminal, Output& out) {
  const bool json = json_asked_for(words);
  try {
    const Options options = options_of(command, program);
    const Arguments arguments(options, words);
    if (arguments.has("help")) {
      out.write(help_of(command, program));
      out.flush();
      return Exit::done;
    }
    const Invocation invocation{arguments, program, terminal, chosen(arguments, terminal), out};
    const Outcome outcome = command.run(invocation);
    out.flush();
    return finish(outcome, out, program, json);
  } catch (const UsageError& e) {
    out.flush();
    complain(
        text_of(e.hint.empty() ? UsageError(e.what(), "see `evershard " + std::string(command.name) + " --help`") : e,
                program, command.name, json));
    return Exit::usage;
  } catch (const RefusedValue& e) {
    complain(text_of(Failure(e.error, "an aggregate is named TYPE-VALUE, such as order-1"), program, json));
    return exit_of(e.error.code);
  }
}

}  // namespace

Exit run(const std::vector<std::string>& words, const Program& program) {
  const Terminal terminal = Terminal::look();
  listen_for_interrupts();
  Output out(STDOUT_FILENO);
  try {
    if (words.empty()) throw UsageError("which command?", "`evershard help` lists the commands");
    const std::string& first = words.front();
    if (first == "--version") {
      auto version = words;
      version.front() = "version";
      return run(version, program);
    }
    if (first == "--help" || first == "-h" || asks_for_all(words)) {
      out.write(overview(program));
      return Exit::done;
    }
    if (first == "help" && words == std::vector<std::string>{"help", "--man"}) {
      out.write(man_page(program));
      return Exit::done;
    }
    if (const auto* group = group_asked_about(words)) {
      out.write(help_of(*group, program));
      return Exit::done;
    }
    if (const auto* group = group_alone(words)) {
      if (json_asked_for(words))
        throw UsageError("the command is incomplete: " + first, "`evershard help " + first + "` lists its commands");
      complain(help_of(*group, program));
      return Exit::usage;
    }
    std::size_t used = 0;
    if (first == "help") {
      out.write(help_of(found({words.begin() + 1, words.end()}, used), program));
      return Exit::done;
    }
    if (first.starts_with('-'))
      throw UsageError("options come after the command", "as in `evershard stats " + first + "`");
    const Command& command = found(words, used);
    return run_command(command, {words.begin() + static_cast<std::ptrdiff_t>(used), words.end()}, program, terminal,
                       out);
  } catch (const UsageError& e) {
    complain(text_of(e, program, {}, json_asked_for(words)));
    return Exit::usage;
  }
}

Exit cannot_run(const std::vector<std::string>& words, const Error& why) {
  complain(text_of(Failure(why, "this program's aggregates have to be put right"), {}, json_asked_for(words)));
  return exit_of(why.code);
}

}  // namespace evershard::cli
