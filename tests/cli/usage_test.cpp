// The command line itself: help, mistakes, formats, exit statuses that do not need a store's content.

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>

#include "tests/cli/program.hpp"
#include "tests/doors/remote/silent_server.hpp"

namespace evershard::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Usage : public Program {};

std::vector<std::string> command_names() {
  const Finished help = run({EVERSHARD_PROGRAM, "help"});
  std::vector<std::string> names;
  std::size_t at = 0;
  while ((at = help.out.find("\n  ", at)) != std::string::npos) {
    at += 3;
    const std::string line = help.out.substr(at, help.out.find('\n', at) - at);
    if (line.size() > 22 && line[0] != ' ' && line[21] == ' ') names.push_back(line.substr(0, line.find("  ")));
  }
  std::erase(names, "help COMMAND");
  return names;
}

/// The first words of commands of two.
std::set<std::string> group_names() {
  std::set<std::string> names;
  for (const auto& name : command_names())
    if (const auto blank = name.find(' '); blank != std::string::npos) names.insert(name.substr(0, blank));
  return names;
}

TEST_F(Usage, ListsEveryCommandByGroup) {
  const Finished help = evershard({"help"});

  EXPECT_EQ(help.status, 0);
  for (const auto* group : {"\ndata\n", "\nstore\n", "\nconsumer groups\n"}) EXPECT_THAT(help.out, HasSubstr(group));
  std::set<std::string> headings;
  std::istringstream lines(help.out);
  for (std::string line; std::getline(lines, line) && line.rfind("Exit status", 0) != 0;)
    if (!line.empty() && line[0] != ' ') {
      EXPECT_TRUE(headings.insert(line).second) << line << ": a second time";
    }
  EXPECT_GE(command_names().size(), 75u);
}

TEST_F(Usage, KeepsLinesWithin100Columns) {
  std::vector<Words> asked{{"help"}};
  for (const auto& name : command_names()) asked.push_back({"help", name});
  for (const auto& group : group_names()) asked.push_back({"help", group});
  for (auto& words : asked) {
    if (const auto blank = words.back().find(' '); blank != std::string::npos)
      words = {"help", words[1].substr(0, blank), words[1].substr(blank + 1)};
    const std::string text = evershard(words).out;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      EXPECT_LE(end - at, 100u) << text.substr(at, end - at);
      at = end + 1;
    }
  }
}

TEST_F(Usage, ShowsAnExampleAndItsOptionsForEveryCommand) {
  for (const auto& name : command_names()) {
    Words asked;
    for (std::size_t at = 0; at < name.size();) {
      const auto end = std::min(name.find(' ', at), name.size());
      asked.push_back(name.substr(at, end - at));
      at = end + 1;
    }
    asked.emplace_back("--help");

    const Finished help = evershard(asked);

    EXPECT_EQ(help.status, 0) << name;
    EXPECT_THAT(help.out, HasSubstr("Example:\n  ")) << name;
    EXPECT_THAT(help.out, HasSubstr("evershard " + name + ' ')) << name;
    EXPECT_THAT(help.out, HasSubstr("--format")) << name;
  }
}

TEST_F(Usage, SaysWhatEveryGroupIsForWithAnExample) {
  EXPECT_THAT(group_names(), ::testing::Contains("retention"));
  for (const auto& name : group_names()) {
    const Finished help = evershard({"help", name});

    EXPECT_EQ(help.status, 0) << help.err;
    const auto sentence = help.out.substr(0, help.out.find('\n'));
    EXPECT_TRUE(sentence.ends_with('.')) << sentence;
    EXPECT_THAT(help.out, HasSubstr("\nExample:\n  evershard " + name + ' '));
    EXPECT_THAT(help.out, HasSubstr("\nCommands:\n  " + name + ' '));
    EXPECT_EQ(evershard({name, "--help"}).out, help.out);
    EXPECT_EQ(evershard({name, "-h"}).out, help.out);
  }
}

TEST_F(Usage, ShowsTheOverviewInEveryWayOfAsking) {
  const auto overview = evershard({"help"}).out;
  for (const auto& words : {Words{"--help"}, {"-h"}, {"help", "help"}, {"help", "--help"}})
    EXPECT_EQ(evershard(words).out, overview);
}

TEST_F(Usage, ShowsAGroupsHelpAsAnErrorWhereItStandsAlone) {
  const Finished alone = evershard({"group"});
  const Finished json = evershard({"group", "--format", "json"});

  EXPECT_EQ(alone.status, 2);
  EXPECT_EQ(alone.out, "");
  EXPECT_EQ(alone.err, evershard({"help", "group"}).out);
  EXPECT_THAT(alone.err, HasSubstr("\n  group work "));
  EXPECT_THAT(alone.err, Not(HasSubstr("projection")));
  EXPECT_EQ(json.status, 2);
  EXPECT_EQ(error_of(json).at("hint"), "`evershard help group` lists its commands");
  EXPECT_EQ(evershard({"help", "grou"}).status, 2);
}

TEST_F(Usage, TakesATimeoutWithItsUnit) {
  // A connection that is refused is final after a second, whatever the time-out; where nobody speaks, the whole
  // time-out is waited for.
  const SilentServer silent;
  const auto waited = [&](const std::string& timeout) {
    const auto began = std::chrono::steady_clock::now();
    const Finished ended = run({EVERSHARD_PROGRAM, "stats", "--server", silent.address(), "--timeout", timeout});
    EXPECT_EQ(ended.status, 6) << timeout << ": " << ended.err;
    return std::chrono::steady_clock::now() - began;
  };
  // A try that cannot end in time is not begun: the wait may end half a second before the time-out.
  EXPECT_GE(waited("3"), std::chrono::milliseconds(2'400));
  EXPECT_GE(waited("3s"), std::chrono::milliseconds(2'400));
  auto shortest = waited("200ms");
  for (int again = 0; again != 5 && shortest >= std::chrono::milliseconds(2'400); ++again)
    shortest = std::min(shortest, waited("200ms"));  // on a busy machine
  EXPECT_LT(shortest, std::chrono::milliseconds(2'400));
  for (const auto* wrong : {"0", "0s", "-1", "12 parsecs", "s", "1000000000h"}) {
    const Finished refused = run({EVERSHARD_PROGRAM, "stats", "--server", "127.0.0.1:1", "--timeout", wrong});
    EXPECT_EQ(refused.status, 2) << wrong;
    EXPECT_THAT(refused.err, HasSubstr("--timeout must be ")) << wrong;
  }
}

TEST_F(Usage, ShowsDefaultsInHelp) {
  EXPECT_THAT(evershard({"init", "--help"}).out, HasSubstr("--shards N (=16)"));
  EXPECT_THAT(evershard({"help", "append"}).out, HasSubstr("--in-flight N (=256)"));
  EXPECT_THAT(evershard({"query", "-h"}).out, HasSubstr("--after POSITION (=0)"));
}

TEST_F(Usage, SaysItsVersion) {
  const Finished text = evershard({"--version"});
  const Finished json = evershard({"--version", "--format", "json"});

  EXPECT_THAT(text.out, StartsWith("evershard 0."));
  for (const auto* name : {"\ncommit   ", "\nRocksDB  ", "\nCAF      0.17.6\n"}) EXPECT_THAT(text.out, HasSubstr(name));
  EXPECT_EQ(evershard({"version"}).out, text.out);
  const auto shown = Json::parse(json.out);
  EXPECT_EQ(shown.at("program"), "evershard");
  EXPECT_EQ(shown.at("caf"), "0.17.6");
  for (const auto* name : {"version", "commit", "rocksdb"}) EXPECT_NE(shown.at(name), "") << name;
}

TEST_F(Usage, RefusesWhatItDoesNotKnowWithAHint) {
  struct Case {
    Words words;
    const char* says;
  };
  const std::string data = path("none");
  const Case cases[] = {
      {{}, "which command?"},
      {{"apend"}, "did you mean append?"},
      {{"group", "crate"}, "unknown command \"group crate\"; did you mean group create?"},
      {{"group", "frobnicate"}, "`evershard help group` lists its commands"},
      {{"groop", "create"}, "did you mean group create?"},
      {{"grup"}, "did you mean group?"},
      {{"state"}, "did you mean aggregate state or stats?"},
      {{"list"}, "did you mean snapshot list, schedule list or aggregate list?"},
      {{"help", "qery"}, "did you mean query?"},
      {{"frobnicate"}, "`evershard help` lists the commands"},
      {{"--data", data, "read"}, "options come after the command"},
      {{"query", "--typ", "X"}, "did you mean --type?"},
      {{"query", "--limit"}, "--limit needs a value"},
      {{"query", "--type", "X", "--limit", "-5", "--data", data}, "it must be a whole number"},
      {{"query", "--type", "X", "--limit", "12x", "--data", data}, "it must be a whole number"},
      {{"query", "--type", "X", "--limit", "99999999999999999999", "--data", data}, "it must be a whole number"},
      {{"query", "--type", "X", "--limit", "1", "--limit", "2", "--data", data}, "--limit is given twice"},
      {{"query", "--data", data}, "which events?"},
      {{"query", "--type", "X", "--or", "--data", data}, "--or has nothing on one side"},
      {{"query", "--type", "X", "--query", "{}", "--data", data}, "cannot be combined with --query"},
      {{"read"}, "--data DIR is missing"},
      {{"read", "order-1", "order-2", "--data", data}, "one argument too many"},
      {{"read", "order-1", "--after", "3", "--data", data}, "cannot be combined with an aggregate"},
      {{"read", "--from", "3", "--data", data}, "--from needs an AGGREGATE"},
      {{"read", "--format", "yaml", "--data", data}, "one of table, json, jsonl"},
      {{"read", "--backwards=yes", "--data", data}, "--backwards takes no value"},
      {{"read", "--data"}, "--data needs a value"},
      {{"aggregate", "show", "--data", data}, "AGGREGATE is missing"},
      {{"append", "--data", data}, "--type is missing"},
      {{"append", "--type", "X", "--expect", "none", "--data", data}, "--expect needs --aggregate"},
      {{"append", "--type", "X", "--after", "3", "--data", data}, "--after must follow a --fail-if"},
      {{"append", "--type", "X", "--id", "7", "--data", data}, "it must be a UUID"},
      {{"append", "--type", "X", "--occurred-at", "yesterday", "--data", data}, "a time looks like"},
      {{"append", "--type", "X", "--jsonl", "-", "--data", data}, "cannot be combined with --jsonl"},
      {{"append", "--jsonl", "-", "--line-bytes-max", "0", "--data", data}, "--line-bytes-max must be at least 1B"},
      {{"append", "--jsonl", "-", "--line-bytes-max", "1 mile", "--data", data}, "a size such as 4096, 64KiB"},
      {{"snapshot", "put", "a-1", "--version", "1", "--ttl", "1500ms", "--data", data}, "a multiple of 1s"},
      {{"group", "create", "g", "--lease-ms", "soon", "--data", data}, "(a bare number is milliseconds), is \"soon\""},
      {{"group", "create", "g", "--order", "none", "--data", data}, "it is one of aggregate, global"},
      {{"init", "--shards", "0", "--data", data}, "the least is 1"},
      {{"init", "--shards", "65536", "--data", data}, "the most is 65535"},
      {{"inspect", "--prefix", "0g", "--data", data}, "pairs of hex digits"},
  };
  for (const auto& [given, says] : cases) {
    const Finished done = evershard(given);

    EXPECT_EQ(done.status, 2) << ::testing::PrintToString(given) << done.err;
    EXPECT_THAT(done.err, HasSubstr(says)) << ::testing::PrintToString(given);
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    EXPECT_EQ(done.out, "") << ::testing::PrintToString(given);
  }
}

TEST_F(Usage, SaysMistakesAsJsonWhereJsonIsAskedFor) {
  const Finished done = evershard({"query", "--typ", "X", "--format", "json"});

  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(error_of(done).at("code"), "usage");
  EXPECT_EQ(error_of(done).at("hint"), "did you mean --type?");
}

TEST_F(Usage, TakesTheStoreFromTheEnvironment) {
  const std::string data = store();

  const Finished done = evershard({"stats"}, {}, {.environment = {{"EVERSHARD_DATA", data}}});

  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(Json::parse(done.out).at("shards"), 16);
}

TEST_F(Usage, SaysWhatCreatesAStoreThatIsNotThere) {
  for (const auto& given : {Words{"read"}, {"stats"}, {"append", "--type", "X"}, {"export"}, {"verify"}}) {
    Words all = given;
    all.insert(all.end(), {"--data", path("none"), "--format", "json"});

    const Finished done = evershard(all);

    EXPECT_EQ(done.status, 4) << ::testing::PrintToString(given);
    EXPECT_EQ(error_of(done).at("code"), "not_found");
    EXPECT_THAT(error_of(done).at("hint").get<std::string>(), HasSubstr("evershard init"));
    EXPECT_FALSE(std::filesystem::exists(path("none")));
  }
}

TEST_F(Usage, RefusesNamesThatNoStoreTakes) {
  const std::string data = store();
  const Words cases[] = {
      {"read", "order"},
      {"read", "-1"},
      {"append", "--aggregate", std::string(129, 'a') + "-1", "--type", "X"},
      {"append", "--aggregate", "a-" + std::string(513, 'b'), "--type", "X"},
      {"append", "--type", std::string(256, 'T')},
      {"append", "--type", "X", "--tag", ""},
      {"append", "--type", "X", "--tag", "\xff\xfe"},
      {"append", "--type", "X", "--also", "nodash"},
      {"append", "--type", "X", "--payload", "{\"a\":"},
      {"append", "--type", "X", "--metadata", "[1]"},
      {"append", "--type", "X", "--payload-format", "7"},
      {"append", "--type", "X", "--fail-if", "{\"items\":[]}"},
      {"query", "--query", "{\"items\":[{}]}"},
      {"query", "--query", "{\"itms\":[]}"},
      {"query", "--tag", ""},
      {"query", "--concerning", "nodash"},
  };
  for (const auto& given : cases) {
    Words all = given;
    const bool dash = given.back() == "-1";
    if (dash)
      all = {"read", "--data", data, "--format", "json", "--", "-1"};
    else
      all.insert(all.end(), {"--data", data, "--format", "json"});

    const Finished done = evershard(all);

    EXPECT_EQ(done.status, 5) << ::testing::PrintToString(given) << done.err;
    EXPECT_THAT((std::vector<std::string>{"invalid_argument", "invalid_query", "too_large"}),
                ::testing::Contains(error_of(done).at("code").get<std::string>()));
  }
  EXPECT_EQ(head(data), 0u);
}

TEST_F(Usage, RefusesAStoreThatIsOpenAlready) {
  const std::string data = store();
  append(data, R"({"type":"X"})"
               "\n");
  Process holder(words({"tail", "--data", data}));
  ASSERT_EQ(holder.lines(1).size(), 1u);

  const Finished done = evershard({"stats", "--data", data, "--format", "json"});

  EXPECT_EQ(done.status, 6);
  EXPECT_EQ(error_of(done).at("code"), "unavailable");
}

TEST_F(Usage, EndsQuietlyWhenNobodyReads) {
  const std::string data = store();
  std::string lines;
  for (int i = 0; i < 20'000; ++i)
    lines += R"({"type":"Filled","payload":"some text to fill the pipe with"})"
             "\n";
  append(data, lines);

  Process reader(words({"read", "--data", data}));
  reader.lines(1);
  reader.stop_reading();
  const Finished piped = reader.wait();
  const Finished closed = evershard({"read", "--data", data}, {}, {.close_output = true});

  EXPECT_EQ(piped.status, 0);
  EXPECT_EQ(piped.err, "");
  EXPECT_EQ(closed.status, 0);
  EXPECT_EQ(closed.err, "");
  EXPECT_EQ(head(data), 20'000u);
}

TEST_F(Usage, SaysWhenTheOutputCannotBeWritten) {
  const std::string data = store();
  append(data, R"({"type":"X"})"
               "\n");

  const Finished done = evershard({"read", "--data", data}, {}, {.output_file = "/dev/full"});

  EXPECT_EQ(done.status, 9);
  EXPECT_THAT(done.err, HasSubstr("No space left"));
}

}  // namespace
}  // namespace evershard::testing
