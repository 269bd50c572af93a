// `evershard append --jsonl`: many appends, bad lines, interruption.

#include <signal.h>
#include <sys/wait.h>

#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using ::testing::HasSubstr;

class AppendLinesCommand : public Program {
 protected:
  static Finished lines(const std::string& data, std::string_view text, Words more = {}) {
    Words all{"append", "--data", data, "--jsonl", "-", "--format", "jsonl"};
    all.insert(all.end(), more.begin(), more.end());
    return evershard(all, text);
  }
};

TEST_F(AppendLinesCommand, AnswersEveryLineInOrder) {
  const std::string data = store();
  std::string text;
  for (int i = 0; i < 1'000; ++i)
    text += R"({"aggregate":"a-)" + std::to_string(i % 7) +
            R"(","type":"T"})"
            "\n";

  const Finished done = lines(data, text);

  ASSERT_EQ(done.status, 0) << done.err;
  const auto answers = json_lines(done.out);
  ASSERT_EQ(answers.size(), 1'000u);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].at("first_position"), i + 1);
    EXPECT_EQ(answers[i].at("versions").at("a-" + std::to_string(i % 7)), i / 7 + 1);
  }
}

TEST_F(AppendLinesCommand, StoresALineWholeOrNotAtAll) {
  const std::string data = store();

  const Finished done = lines(
      data,
      R"({"events":[{"aggregate":"a-1","type":"T"},{"aggregate":"b-1","type":"T","also":["a-1"]}],"expect":[{"aggregate":"b-1","version":"none"}]})"
      "\n"
      R"({"events":[{"aggregate":"a-1","type":"T"},{"aggregate":"b-1","type":"T"}],"expect":[{"aggregate":"b-1","version":0}]})"
      "\n");

  EXPECT_EQ(done.status, 3);
  EXPECT_EQ(json_lines(done.out).at(0).at("versions"), Json::parse(R"({"a-1":1,"b-1":1})"));
  EXPECT_EQ(json_lines(done.out).at(1).at("error").at("line"), 2);
  EXPECT_EQ(json_lines(done.out).at(1).at("error").at("actual"), 1);
  EXPECT_EQ(head(data), 2u);
}

TEST_F(AppendLinesCommand, AnswersALineBeforeTheNextOneComes) {
  const std::string data = store();
  Process process(words({"append", "--data", data, "--jsonl", "-"}));

  for (std::size_t i = 1; i <= 3; ++i) {
    process.write(R"({"type":"T"})"
                  "\n");
    ASSERT_EQ(process.lines(i).size(), i);
  }
  process.close_input();

  EXPECT_EQ(process.wait().status, 0);
}

TEST_F(AppendLinesCommand, SaysWhichLineIsBadAndWhatWasStoredBeforeIt) {
  struct Case {
    std::string line;
    const char* says;
  };
  const Case cases[] = {
      {R"({"type":"T","aggregat":"a-1"})", "unknown key \\\"aggregat\\\""},
      {R"({"type":7})", "type: must be a string, is a number (7)"},
      {R"({"type":"T","tags":["a",null]})", "tags[1]: must be a string, is null"},
      {R"({"events":[{"type":"T"},{"type":"T","tags":"x"}]})", "events[1].tags: must be an array, is a string"},
      {R"({"events":[],"expect":[]})", "at least one"},
      {R"({"events":{}})", "events: must be an array"},
      {R"({"expect":[]})", "events is missing"},
      {R"({"events":[{"type":"T"}],"expect":[{"aggregate":"a-1","version":-1}]})", "expect[0].version"},
      {R"({"events":[{"type":"T"}],"expect":[{"aggregate":"a-1","version":"newest"}]})", "expect[0].version"},
      {R"({"events":[{"type":"T"}],"fail_if":[{"query":{"items":[]}}]})", "fail_if[0].query"},
      {R"({"events":[{"type":"T"}],"fail_if":[{"after":3}]})", "query is missing"},
      {R"({"events":[{"type":"T"}],"fail_if":[{"query":{"items":[{"types":["T"]}]},"after":1.5}]})",
       "fail_if[0].after"},
      {R"({"events":[{"type":"T"}],"event":1})", "unknown key \\\"event\\\""},
      {R"({"type":"T","type":"U"})", "comes twice"},
      {R"({"type":"T","position":3})", "position: is the store's to give"},
      {R"({"type":"T","id":"7"})", "id: \\\"7\\\" is no UUID"},
      {R"({"type":"T","id":"00000000-0000-0000-0000-000000000000"})", "all zeros"},
      {R"({"type":"T","occurred_at":"yesterday"})", "occurred_at"},
      {R"({"type":"T","payload":"A?==","payload_encoding":"base64"})", "is no base64"},
      {R"({"type":"T","payload":"x","payload_encoding":"hex"})", "the only one is base64"},
      {R"({"type":"T","payload_encoding":"base64"})", "payload_encoding without payload"},
      {R"({"type":"T","metadata":[1]})", "metadata: must be an object"},
      {R"({"type":"T","payload_format":99})", "reserved"},
      {R"({"type":"T","aggregate":"nodash"})", "aggregate: "},
      {R"({"type":""})", "type"},
      {R"({"type":"T","tags":[""]})", "tag"},
      {R"({"type":"T\u0000U"})", "NUL"},
      {R"({"type":"T")", "ends too early"},
      {R"({"type":"T)", "not JSON"},
      {R"({"type":"T"}})", "not JSON"},
      {R"({"type":"T"} {"type":"U"})", "not JSON"},
      {"{\"type\":\"\xff\"}", "not UTF-8"},
      {std::string("{\"type\":\"T\0\"}", 13), "not JSON"},
      {R"({"type":"T","payload":1e999.})", "not JSON"},
      {"\xef\xbb\xbf{\"type\":\"T\"}", "byte order mark"},
      {std::string("{\"type\":\"T\"}\0", 13), "not JSON"},
      {"[1,2]", "must be an object"},
      {"hello", "not JSON"},
      {std::string(300'000, '['), "not JSON"},
  };
  const std::string data = store();
  std::uint64_t stored = 0;
  for (const auto& [line, says] : cases) {
    const Finished done =
        lines(data, "{\"type\":\"Good\"}\r\n\n   \n{\"type\":\"Good\"}\n" + line + "\n{\"type\":\"Behind\"}\n");

    EXPECT_EQ(done.status, 5) << line.substr(0, 100) << done.err;
    EXPECT_THAT(done.err, HasSubstr(says)) << line.substr(0, 100);
    const Json error = error_of(done);
    EXPECT_EQ(error.at("line"), 5) << line.substr(0, 100);
    EXPECT_EQ(error.at("lines_stored_before"), 2) << line.substr(0, 100);
    EXPECT_THAT(error.at("message").get<std::string>(), HasSubstr("2 lines stored before it"));
    EXPECT_EQ(json_lines(done.out).size(), 3u);
    stored += 2;
  }
  EXPECT_EQ(head(data), stored);
  EXPECT_EQ(shown({"query", "--type", "Behind", "--data", data}).size(), 0u);
}

TEST_F(AppendLinesCommand, GoesOnBehindBadLinesWhereAsked) {
  const std::string data = store();

  const Finished done =
      lines(data, "{\"type\":\"A\"}\nbad\n{\"type\":\"B\"}\n{\"typ\":1}\n{\"type\":\"C\"}", {"--continue"});

  EXPECT_EQ(done.status, 5);
  const auto answers = json_lines(done.out);
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_EQ(answers[1].at("error").at("line"), 2);
  EXPECT_EQ(answers[3].at("error").at("line"), 4);
  EXPECT_EQ(answers[4].at("first_position"), 3);
  EXPECT_EQ(error_of(done).at("lines_refused"), 2);
}

TEST_F(AppendLinesCommand, RefusesALineThatIsTooLongInBoundedMemory) {
  const std::string data = store();
  const std::string text =
      "{\"type\":\"A\"}\n{\"type\":\"B\",\"payload\":\"" + std::string(3'000'000, 'x') + "\"}\n{\"type\":\"C\"}\n";

  const Finished stopped = lines(data, text, {"--line-bytes-max", "100000"});
  const Finished through = lines(data, text, {"--line-bytes-max", "100000", "--continue"});

  EXPECT_EQ(stopped.status, 5);
  EXPECT_EQ(error_of(stopped).at("code"), "too_large");
  EXPECT_EQ(error_of(stopped).at("line"), 2);
  EXPECT_EQ(json_lines(through.out).size(), 3u);
  EXPECT_EQ(head(data), 3u);
}

TEST_F(AppendLinesCommand, FindsTheOneBadLineOfAMillion) {
  constexpr int count = 1'000'000;
  constexpr int bad = 200'003;
  const std::string data = store();
  {
    std::string text;
    text.reserve(16u << 20);
    for (int i = 1; i <= count; ++i) text += i == bad ? "{\"type\":\n" : "{\"type\":\"T\"}\n";
    write_file("million", text);
  }

  const Finished done = evershard({"append", "--data", data, "--jsonl", path("million"), "--format", "jsonl"}, {},
                                  {.output_file = path("answers")});

  EXPECT_EQ(done.status, 5) << done.err;
  EXPECT_EQ(error_of(done).at("line"), bad);
  EXPECT_EQ(error_of(done).at("lines_stored_before"), bad - 1);
  EXPECT_EQ(head(data), static_cast<std::uint64_t>(bad - 1));
}

TEST_F(AppendLinesCommand, StopsAtCtrlCAndSaysHowFarItCame) {
  const std::string data = store();
  Process process(words({"append", "--data", data, "--jsonl", "-", "--format", "json"}));
  process.write("{\"type\":\"A\"}\n{\"type\":\"B\"}\n");
  ASSERT_GE(process.lines(2).size(), 2u);  // "[\n" and ",\n": the last answer's line is open

  process.signal(SIGINT);
  const Finished done = process.wait();

  EXPECT_EQ(done.status, 130);
  EXPECT_EQ(error_of(done).at("code"), "cancelled");
  EXPECT_EQ(error_of(done).at("last_line"), 2);
  EXPECT_EQ(Json::parse(done.out).size(), 2u);
  EXPECT_EQ(head(data), 2u);
}

TEST_F(AppendLinesCommand, TakesNoFurtherLineWhenNobodyReadsTheAnswers) {
  const std::string data = store();
  Process process(words({"append", "--data", data, "--jsonl", "-"}));
  process.write("{\"type\":\"A\"}\n");
  ASSERT_EQ(process.lines(1).size(), 1u);

  process.stop_reading();
  const auto has_ended = [&] {
    siginfo_t ended{};
    return ::waitid(P_PID, static_cast<id_t>(process.pid()), &ended, WEXITED | WNOWAIT | WNOHANG) == 0 &&
           ended.si_pid != 0;
  };
  std::uint64_t written = 1;  // more where a busy machine is slow to notice
  for (; written <= 100 || (written < 6'000 && !has_ended()); ++written) {
    process.write("{\"type\":\"B\"}\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const Finished done = process.wait();

  EXPECT_EQ(done.status, 9);
  EXPECT_EQ(done.err, "");
  EXPECT_LT(head(data), written);
}

TEST_F(AppendLinesCommand, SaysWhichFileCannotBeRead) {
  const std::string data = store();

  const Finished missing = evershard({"append", "--data", data, "--jsonl", path("none"), "--format", "json"});
  const Finished directory = evershard({"append", "--data", data, "--jsonl", path(""), "--format", "json"});

  EXPECT_EQ(missing.status, 4);
  EXPECT_EQ(directory.status, 9);
  EXPECT_THAT(error_of(directory).at("message").get<std::string>(), HasSubstr("directory"));
}

}  // namespace
}  // namespace evershard::testing
