#include "evershard/cli/run.hpp"

#include <unistd.h>

#include <algorithm>

#include "evershard/cli/commands.hpp"
#include "evershard/cli/help.hpp"
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

UsageError unknown_command(const std::string& word) {
  std::vector<std::string> names;
  for (const auto& command : commands()) names.emplace_back(command.name);
  for (const auto& name : names) {
    if (name.starts_with(word + ' ')) return UsageError("the command is incomplete: " + word, group_of_two(word));
  }
  const std::string near = nearest(word, names);
  return UsageError("unknown command " + in_quotes(word),
                    near.empty() ? "`evershard help` lists them" : "did you mean " + near + "?");
}

/// The command that the first word, or the first two, name.
const Command& found(const std::vector<std::string>& words, std::size_t& used) {
  for (used = std::min<std::size_t>(2, words.size()); used > 0; --used) {
    const std::string name = used == 2 ? words[0] + ' ' + words[1] : words[0];
    for (const auto& command : commands()) {
      if (name == command.name) return command;
    }
  }
  throw unknown_command(words.front());
}

/// `help group`, `group --help`: the first word of commands of two. Empty: nothing like it.
std::string group_asked_about(const std::vector<std::string>& words) {
  if (words.size() != 2) return {};
  if (words[0] == "help") return words[1];
  return words[1] == "--help" || words[1] == "-h" ? words[0] : std::string();
}

Format chosen(const Arguments& arguments, const Terminal& terminal) {
  const auto given = arguments.text("format");
  if (!given) return terminal.output ? Format::table : Format::jsonl;
  const auto format = format_of(*given);
  if (!format) throw UsageError("--format is " + in_quotes(*given), "it is one of table, json, jsonl");
  return *format;
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
    if (words.empty()) throw UsageError("which command?", "`evershard help` lists them");
    const std::string& first = words.front();
    if (first == "--version" || first == "version") {
      out.write(version_text());
      return Exit::done;
    }
    if (first == "--help" || first == "-h" || (first == "help" && words.size() == 1)) {
      out.write(overview(program));
      return Exit::done;
    }
    if (const auto group = group_asked_about(words); !group.empty()) {
      if (const auto text = overview_of_group(group, program); !text.empty()) {
        out.write(text);
        return Exit::done;
      }
    }
    std::size_t used = 0;
    if (first == "help") {
      out.write(help_of(found({words.begin() + 1, words.end()}, used), program));
      return Exit::done;
    }
    if (first.starts_with('-'))
      throw UsageError("options stand behind the command", "as in `evershard stats " + first + "`");
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
