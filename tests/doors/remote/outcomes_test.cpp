// What a write ends with, by what became of its tries: the table that all clients share, against a server that breaks
// off as it says.

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <vector>

#include "evershard/doors/remote/write_outcome.hpp"
#include "tests/doors/remote/breaking_server.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;

struct OutcomeCase {
  std::vector<std::string> tries;
  std::string ends;
};

std::vector<OutcomeCase> outcome_table() {
  std::ifstream file(EVERSHARD_CLIENT_TABLES "/outcomes.json");
  const auto table = nlohmann::json::parse(file);
  std::vector<OutcomeCase> cases;
  for (const auto& one : table.at("cases")) cases.push_back({one.at("tries"), one.at("ends")});
  return cases;
}

template <class Value>
std::string end_of(const Result<Value>& result) {
  if (result) return "stored";
  return result.error().code == ErrorCode::timeout ? "unknown" : std::string(name_of(result.error().code));
}

Append one_event() { return Append{}.event("a-1", "T", "x"); }

struct OutcomeCall {
  const char* name;
  BreakingServer::Appends appends;  ///< how its appends are refused
  std::vector<std::string> passes;  ///< what it is tried again after; none: what the table says
  std::string (*end)(Remote&);
};

const OutcomeCall outcome_calls[] = {
    {"append",
     BreakingServer::Appends::each,
     {"breaks", "overloaded"},
     [](Remote& remote) { return end_of(remote.append(one_event())); }},
    {"append, the stream ended as a whole",
     BreakingServer::Appends::whole,
     {},
     [](Remote& remote) { return end_of(remote.append(one_event())); }},
    {"append_async",
     BreakingServer::Appends::each,
     {"breaks"},
     [](Remote& remote) { return end_of(remote.append_future(one_event()).get()); }},
    {"schedule",
     BreakingServer::Appends::each,
     {},
     [](Remote& remote) { return end_of(remote.scheduled().schedule({.after = 1h, .append = one_event()})); }},
    {"cancel",
     BreakingServer::Appends::each,
     {},
     [](Remote& remote) { return end_of(remote.scheduled().cancel("s")); }},
    {"put_snapshot",
     BreakingServer::Appends::each,
     {},
     [](Remote& remote) {
       return end_of(
           remote.put_snapshot({.aggregate = {"a", "1"}, .version = SeqNr(1), .payload = "x", .keep = {}, .ttl = {}}));
     }},
    {"ask",
     BreakingServer::Appends::each,
     {},
     [](Remote& remote) {
       const auto answer = remote.ask({"a", "1"}, "C", "x", {.command_id = "c"});
       if (answer.kind == AnswerKind::replied) return std::string("stored");
       return end_of(Result<void>(refuse(answer.error)));
     }},
};

/// Until the time-out.
bool is_endless(const std::string& step) { return step == "breaks" || step == "silence" || step == "overloaded"; }

/// What one server answers to an append is its outcome, but for `overloaded`: there is no further try.
bool is_run(const OutcomeCall& call, const OutcomeCase& one) {
  for (std::size_t i = 0; !call.passes.empty() && i + 1 < one.tries.size(); ++i) {
    if (std::ranges::find(call.passes, one.tries[i]) == call.passes.end()) return false;
  }
  return true;
}

TEST(RemoteOutcomes, AWriteEndsAsTheTableSays) {
  struct Run {
    std::string name;
    std::string wanted;
    std::future<std::string> end;
  };
  BreakingServer server;
  std::vector<Run> runs;
  for (const auto& one : outcome_table()) {
    for (const auto& call : outcome_calls) {
      if (!is_run(call, one)) continue;
      const auto token = server.add(one.tries, call.appends);
      auto end = std::async(std::launch::async, [&call, &server, token, endless = is_endless(one.tries.back())] {
        // One that ends with its time has time for two tries, on a busy machine: it is connected before.
        auto remote = Remote::connect({.server = server.address(),
                                       .token = token,
                                       .timeout = endless ? 3s : 60s,
                                       .unavailable_timeout = 300ms,
                                       .follow_shards = false})
                          .value();
        (void)remote.wait_for(GlobalPosition{0}, 60s);
        return call.end(remote);
      });
      runs.push_back({call.name + (": " + ::testing::PrintToString(one.tries)), one.ends, std::move(end)});
    }
  }
  ASSERT_GT(runs.size(), 200u);
  for (auto& run : runs) EXPECT_EQ(run.end.get(), run.wanted) << run.name;
}

TEST(RemoteOutcomes, OneAppendThatIsTooLargeEndsNobodyElses) {
  BreakingServer server(1 << 16);
  const auto token = server.add({"stored"}, BreakingServer::Appends::each);
  auto remote =
      Remote::connect({.server = server.address(), .token = token, .timeout = 60s, .follow_shards = false}).value();
  std::vector<std::future<Result<Appended>>> answers;
  for (const std::size_t size : {10, 100'000, 20, 200'000, 30})
    answers.push_back(remote.append_future(Append{}.event("a-1", "T", std::string(size, 'x'))));
  std::vector<std::string> ends;
  for (auto& answer : answers) ends.push_back(end_of(answer.get()));
  EXPECT_THAT(ends, ::testing::ElementsAre("stored", "too_large", "stored", "too_large", "stored"));
}

}  // namespace
}  // namespace evershard
