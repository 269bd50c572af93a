// Commands over HTTP to the aggregates of a program that serves with its own command line: alone, and as a cluster.

#include <csignal>
#include <numeric>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/cli/program.hpp"
#include "tests/doors/http/http_client.hpp"
#include "tests/process/process.hpp"

namespace evershard::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

std::string word_behind(const std::string& line, const std::string& word) {
  std::istringstream words(line);
  for (std::string one; words >> one;)
    if (one == word && words >> one) return one;
  ADD_FAILURE() << word << " is not in: " << line;
  return {};
}

nlohmann::json asked(const std::string& address, const std::string& account, const std::string& command,
                     const std::string& json, const std::string& id = {}) {
  const auto once = [&] {
    return ask(address, "POST",
               "/api/v1/aggregates/bank_account-" + account + "/commands/bank." + command +
                   (id.empty() ? "" : "?command_id=" + id),
               json);
  };
  auto answer = once();
  // A shard that is being opened, a busy machine: the same command again takes effect once.
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       !id.empty() && answer.status >= 500 && std::chrono::steady_clock::now() < until; answer = once())
    std::this_thread::sleep_for(50ms);
  EXPECT_EQ(answer.status, 200) << answer.body;
  return answer.json();
}

class HostedCommands : public Program {
 protected:
  void end(Process& process) {
    process.signal(SIGTERM);
    const auto finished = process.wait();
    EXPECT_EQ(finished.status, 0) << finished.err;
  }
};

TEST_F(HostedCommands, AreTakenByServe) {
  const Words serve{BANK_PROGRAM, "serve",       "--data",        path("store"),
                    "--listen",   "127.0.0.1:0", "--http-listen", "127.0.0.1:0"};
  {
    Process process(serve);
    const auto address = word_behind(process.lines(1).at(0), "http");
    EXPECT_EQ(asked(address, "ann", "OpenAccount", R"({"owner":"Ann"})")["outcome"], "replied");
    EXPECT_EQ(asked(address, "ann", "Deposit", R"({"amount":70})", "pay")["reply"]["amount"], "70");
    EXPECT_EQ(asked(address, "ann", "Withdraw", R"({"amount":71})")["rejection"], "insufficient funds");
    EXPECT_EQ(ask(address, "GET", "/api/v1/kinds").json()["kinds"][0]["type"], "bank_account");
    EXPECT_EQ(ask(address, "GET", "/api/v1/head").json()["head"], 2);
    end(process);
  }
  Process process(serve);
  const auto address = word_behind(process.lines(1).at(0), "http");
  const auto again = asked(address, "ann", "Deposit", R"({"amount":70})", "pay");
  EXPECT_EQ(again["duplicate"], true);
  EXPECT_EQ(again["version"], 2);
  EXPECT_EQ(asked(address, "ann", "GetBalance", "{}")["reply"]["amount"], "70");
  end(process);
}

TEST_F(HostedCommands, AreRefusedByAProgramWithoutAny) {
  Process process(
      {EVERSHARD_PROGRAM, "serve", "--data", path("store"), "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0"});
  const auto address = word_behind(process.lines(1).at(0), "http");
  const auto answer = ask(address, "POST", "/api/v1/aggregates/bank_account-ann/commands/bank.Deposit", "{}");
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("hosts no aggregates"));
  end(process);
}

// Whichever node is asked, the aggregate lives on one.
TEST_F(HostedCommands, AreTakenByEveryNodeOfACluster) {
  Process process({BANK_PROGRAM, "cluster", "launch", "3", "--data", path("cluster"), "--listen", "127.0.0.1:0",
                   "--http-listen", "127.0.0.1:0", "--replicas", "1", "--cut-log", "local", "--shards", "12"});
  std::vector<std::string> addresses;
  for (const auto& line : process.lines(5))
    if (line.starts_with("node ")) addresses.push_back(word_behind(line, "http"));
  ASSERT_EQ(addresses.size(), 3u);

  constexpr int accounts = 12;
  for (int i = 0; i != accounts; ++i) {
    const auto account = std::to_string(i);
    EXPECT_EQ(asked(addresses[0], account, "OpenAccount", R"({"owner":"Ann"})", "open")["outcome"], "replied");
    for (std::size_t n = 0; n != addresses.size(); ++n) {
      const auto deposited = asked(addresses[n], account, "Deposit", R"({"amount":1})", "pay-" + std::to_string(n));
      EXPECT_EQ(deposited["reply"]["amount"], std::to_string(n + 1)) << deposited;
    }
    const auto again = asked(addresses[1], account, "Deposit", R"({"amount":1})", "pay-0");
    EXPECT_EQ(again["duplicate"], true);
    EXPECT_EQ(again["reply"]["amount"], "1");
  }
  std::vector<std::uint64_t> live;
  const auto all = [&] {
    live.clear();
    for (const auto& address : addresses)
      live.push_back(ask(address, "GET", "/api/v1/stats").json()["details"].value("aggregates.live", 0u));
    return std::accumulate(live.begin(), live.end(), std::uint64_t{0});
  };
  // One whose shard was opened anew is loaded again, and goes a moment later where it was.
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       all() != accounts && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(50ms);
  EXPECT_EQ(all(), std::uint64_t{accounts});
  EXPECT_THAT(live, ::testing::Each(::testing::Gt(0u)));
  end(process);
}

}  // namespace
}  // namespace evershard::testing
