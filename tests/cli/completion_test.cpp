// What is made from the table of commands for others: completion in bash, zsh and fish, and the man page.

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

Words split(const std::string& text, char at) {
  Words words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, at);) words.push_back(word);
  return words;
}

bool there_is(const std::string& program) {
  return run({"/bin/sh", "-c", "command -v " + program + " >/dev/null"}).status == 0;
}

class Completion : public Program {
 protected:
  /// As `evershard help` lists them; `help` itself is none.
  static Words command_names() {
    Words names;
    for (const auto& line : split(evershard({"help"}).out, '\n')) {
      if (line.size() < 25 || !line.starts_with("  ") || line[2] == ' ' || line[23] != ' ') continue;
      names.push_back(line.substr(2, line.find("  ", 2) - 2));
    }
    std::erase(names, "help COMMAND");
    std::erase(names, "evershard COMMAND [options]");
    return names;
  }
  /// `--data`, ..., as the command's help lists them.
  static std::set<std::string> options_of(const std::string& command) {
    Words asked = split(command, ' ');
    asked.emplace_back("--help");
    std::set<std::string> options{"--help"};
    for (const auto& line : split(evershard(asked).out, '\n')) {
      if (line.starts_with("  --")) options.insert(line.substr(2, line.find_first_of(" \n", 2) - 2));
    }
    return options;
  }

  /// What bash offers for each line of words, of which the last one is being typed.
  std::vector<Words> all_offered_by_bash(const std::vector<Words>& lines) {
    write_file("completion.bash", evershard({"completion", "bash"}).out);
    write_file("ask.bash", R"(source "$1"
while IFS=$'\x1f' read -r -a COMP_WORDS; do
  COMP_WORDS[${#COMP_WORDS[@]} - 1]=${COMP_WORDS[${#COMP_WORDS[@]} - 1]%.}
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _evershard
  (IFS=$'\x1f'; echo "${COMPREPLY[*]}")
done
)");
    std::string asked;
    for (const auto& words : lines) {
      asked += "evershard";
      for (const auto& word : words) asked += '\x1f' + word;
      asked += ".\n";  // so that an empty last word is one
    }
    Process bash({"/bin/bash", path("ask.bash"), path("completion.bash")});
    bash.write(asked);
    bash.close_input();
    const Finished done = bash.wait();
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.err, "");
    std::vector<Words> offered;
    for (const auto& line : split(done.out, '\n')) offered.push_back(split(line, '\x1f'));
    EXPECT_EQ(offered.size(), lines.size());
    offered.resize(lines.size());
    return offered;
  }
  Words offered_by_bash(const Words& words) { return all_offered_by_bash({words}).front(); }
};

TEST_F(Completion, OffersCommandsInBash) {
  EXPECT_EQ(run({"/bin/bash", "-n", "-c", evershard({"completion", "bash"}).out}).status, 0);
  EXPECT_THAT(offered_by_bash({""}), IsSupersetOf({"append", "group", "serve", "help", "version", "completion"}));
  EXPECT_THAT(offered_by_bash({"gr"}), ElementsAre("group"));
  EXPECT_THAT(offered_by_bash({"group", ""}), IsSupersetOf({"create", "work", "drop"}));
  EXPECT_THAT(offered_by_bash({"group", "re"}), ElementsAre("replay", "reset"));
  EXPECT_THAT(offered_by_bash({"help", "group", "re"}), ElementsAre("replay", "reset"));
  EXPECT_THAT(offered_by_bash({"help", "stats", ""}), IsEmpty());
  EXPECT_THAT(offered_by_bash({"help", "--"}), ElementsAre("--man"));
  EXPECT_THAT(offered_by_bash({"--v"}), ElementsAre("--version"));
  EXPECT_THAT(offered_by_bash({"frobnicate", ""}), IsEmpty());
}

TEST_F(Completion, OffersEveryOptionOfEveryCommandInBash) {
  const auto names = command_names();
  ASSERT_GE(names.size(), 75u);
  std::vector<Words> lines;
  for (const auto& name : names) {
    lines.push_back(split(name, ' '));
    lines.back().emplace_back("--");
  }

  const auto offered = all_offered_by_bash(lines);

  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(std::set<std::string>(offered[i].begin(), offered[i].end()), options_of(names[i])) << names[i];
}

TEST_F(Completion, OffersValuesInBash) {
  EXPECT_THAT(offered_by_bash({"read", "--format", ""}), ElementsAre("table", "json", "jsonl"));
  EXPECT_THAT(offered_by_bash({"read", "--format", "=", "js"}), ElementsAre("json", "jsonl"));
  EXPECT_THAT(offered_by_bash({"read", "--format", "="}), ElementsAre("table", "json", "jsonl"));
  EXPECT_THAT(offered_by_bash({"group", "create", "billing", "--order", "g"}), ElementsAre("global"));
  EXPECT_THAT(offered_by_bash({"table", "select", "orders", "--order", "g"}), IsEmpty());
  EXPECT_THAT(offered_by_bash({"serve", "--log-level", ""}), Contains("warning"));
  EXPECT_THAT(offered_by_bash({"completion", "z"}), ElementsAre("zsh"));
  EXPECT_THAT(offered_by_bash({"stats", "--server", "127.0.0.1", ":", "7420", "--form"}), ElementsAre("--format"));
}

TEST_F(Completion, OffersPathsInBash) {
  write_file("events.jsonl", "");
  std::filesystem::create_directories(path("event store"));

  EXPECT_THAT(offered_by_bash({"import", path("ev")}),
              ::testing::UnorderedElementsAre(path("events.jsonl"), path("event store")));
  EXPECT_THAT(offered_by_bash({"import", "--data", path("ev")}), ElementsAre(path("event store")));
  EXPECT_THAT(offered_by_bash({"projection", "create", "orders", path("events.")}), ElementsAre(path("events.jsonl")));
  EXPECT_THAT(offered_by_bash({"projection", "create", path("events.")}), IsEmpty());
}

TEST_F(Completion, KnowsEveryCommandAndOptionInZshAndFish) {
  const auto zsh = evershard({"completion", "zsh"}).out;
  const auto fish = evershard({"completion", "fish"}).out;

  std::set<std::string> options;
  for (const auto& name : command_names()) {
    EXPECT_THAT(zsh, HasSubstr("    '" + name + "')\n"));
    EXPECT_THAT(fish, HasSubstr(" \"" + name + "\""));
    options.merge(options_of(name));
  }
  for (const auto& option : options) {
    EXPECT_THAT(zsh, ::testing::AnyOf(HasSubstr(option + '='), HasSubstr(option + '['), HasSubstr(option + '}')));
    EXPECT_THAT(fish, HasSubstr(" -l " + option.substr(2) + ' '));
  }
  EXPECT_THAT(zsh, HasSubstr(":FORMAT:(table json jsonl)"));
  EXPECT_THAT(fish, HasSubstr(" -l format -x -a 'table json jsonl' "));
}

TEST_F(Completion, IsTakenByZshAndFishWhereTheyAre) {
  write_file("_evershard", evershard({"completion", "zsh"}).out);
  write_file("evershard.fish", evershard({"completion", "fish"}).out);
  if (there_is("zsh")) {
    const Finished read = run({"/usr/bin/env", "zsh", "-f", "-n", path("_evershard")});
    EXPECT_EQ(read.status, 0) << read.err;
  }
  if (!there_is("fish")) GTEST_SKIP() << "no fish here";
  const auto offered = [&](const std::string& typed) {
    const Finished done = run({"/usr/bin/env", "fish", "-N", "-c",
                               "source '" + path("evershard.fish") + "'; complete -C 'evershard " + typed + "'"});
    EXPECT_EQ(done.err, "");
    Words words;
    for (const auto& line : split(done.out, '\n')) words.push_back(line.substr(0, line.find('\t')));
    return words;
  };
  EXPECT_THAT(offered("gr"), ElementsAre("group"));
  EXPECT_THAT(offered("group re"), ElementsAre("replay", "reset"));
  EXPECT_THAT(offered("help group re"), ElementsAre("replay", "reset"));
  EXPECT_THAT(offered("group create --ord"), ElementsAre("--order"));
  EXPECT_THAT(offered("group create --order g"), ElementsAre("global"));
  EXPECT_THAT(offered("completion z"), ElementsAre("zsh"));
}

TEST_F(Completion, RefusesAShellThatItDoesNotKnow) {
  const Finished done = evershard({"completion", "csh"});

  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("SHELL is \"csh\"; it is one of bash, zsh, fish"));
}

TEST_F(Completion, HasAManPageOfEveryCommandAndOption) {
  const Finished page = evershard({"help", "--man"});

  EXPECT_EQ(page.status, 0);
  for (const auto* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "EXIT STATUS"})
    EXPECT_THAT(page.out, HasSubstr("\n.SH " + std::string(section) + '\n'));
  std::set<std::string> options;
  for (const auto& name : command_names()) {
    EXPECT_THAT(page.out, HasSubstr("\n.SS \"evershard " + name + "\"\n"));
    options.merge(options_of(name));
  }
  for (auto option : options) {
    for (std::size_t at = 0; (at = option.find('-', at)) != std::string::npos; at += 2) option.insert(at, 1, '\\');
    EXPECT_THAT(page.out, HasSubstr("\\fB" + option + "\\fR"));
  }
  // No line that roff would take for a request of its own.
  for (const auto& line : split(page.out, '\n')) {
    if (!line.starts_with('.')) continue;
    const auto request = line.substr(0, line.find(' '));
    EXPECT_THAT((Words{".\\\"", ".TH", ".SH", ".SS", ".TP", ".PP", ".RS", ".RE", ".nf", ".fi"}), Contains(request));
  }
}

TEST_F(Completion, HasAManPageThatManTakesWithoutAWarning) {
  write_file("evershard.1", evershard({"help", "--man"}).out);
  const bool man = there_is("man");
  if (!man && !there_is("groff")) GTEST_SKIP() << "neither man nor groff here";
  const Finished shown =
      man ? run({"/usr/bin/env", "LC_ALL=C", "MANWIDTH=100", "man", "--warnings", "-l", path("evershard.1")})
          : run({"/usr/bin/env", "groff", "-man", "-ww", "-Tascii", path("evershard.1")});

  EXPECT_EQ(shown.status, 0);
  EXPECT_EQ(shown.err, "");
  EXPECT_THAT(shown.out, HasSubstr("evershard - an event store"));
}

}  // namespace
}  // namespace evershard::testing
