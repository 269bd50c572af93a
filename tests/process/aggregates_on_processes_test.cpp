// Programs with a node each, one of them killed while the others send commands to its aggregates: each command takes effect once, and none
// is left hanging. EVERSHARD_ROUNDS: how often it is killed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/cluster/embedded/embedding_cluster.hpp"
#include "tests/process/process.hpp"

namespace evershard::testing {
namespace {

constexpr int programs = 3, accounts = 12;
constexpr auto program_patience = 120s;

/// A program of the bank: its lines, one answer each.
class BankProcess {
 public:
  explicit BankProcess(const std::vector<std::string>& words) : process_(words) {
    const auto said = process_.lines(1, program_patience);
    EXPECT_EQ(said, std::vector<std::string>{"ready"});
  }
  void say(const std::string& line) { process_.write(line + "\n"), ++said_; }
  std::string answer() {
    const auto lines = process_.lines(said_ + 1, program_patience);
    return lines.size() == said_ + 1 ? lines.back() : "nothing";
  }
  std::string ask(const std::string& line) {
    say(line);
    return answer();
  }
  void kill() {
    process_.signal(SIGKILL);
    EXPECT_EQ(process_.wait(program_patience).status, 128 + SIGKILL);
  }
  Finished end() {
    process_.close_input();
    return process_.wait(program_patience);
  }

 private:
  Process process_;
  std::size_t said_ = 0;
};

TEST(AggregatesOnProcesses, CommandsTakeEffectOnceWhileAnOwnerIsKilled) {
  const char* const rounds_text = std::getenv("EVERSHARD_ROUNDS");
  const int rounds = rounds_text != nullptr ? std::stoi(rounds_text) : 1;
  EmbeddingCluster cluster(programs);  // its coordinator; the nodes are the programs
  const auto start = [&](int node) {
    const auto options = cluster.options(static_cast<std::uint32_t>(node));
    return std::make_unique<BankProcess>(std::vector<std::string>{EXAMPLE_CLUSTER_BANK, std::to_string(node), options.data_dir.string(), options.coordinator,
                                                                  options.secret_file.string(), std::to_string(options.shards)});
  };
  std::vector<std::unique_ptr<BankProcess>> banks;
  std::vector<std::thread> starting;  // a node is ready when the coordinator has heard of it, not of all
  banks.resize(programs);
  for (int n = 0; n < programs; ++n) starting.emplace_back([&, n] { banks[static_cast<std::size_t>(n)] = start(n + 1); });
  for (auto& thread : starting) thread.join();

  for (int i = 0; i < accounts; ++i) {
    std::string said = banks[0]->ask("open load-" + std::to_string(i));
    for (int tries = 0; tries < 20 && said.rfind("balance 0", 0) != 0; ++tries) said = banks[0]->ask("open load-" + std::to_string(i));
    ASSERT_THAT(said, ::testing::StartsWith("balance 0"));
  }

  constexpr int count = 1'500;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t n = 0; n < 2; ++n) banks[n]->say("load " + std::to_string(count) + " " + std::to_string(accounts) + " r" + std::to_string(round) + "n" + std::to_string(n));
    std::this_thread::sleep_for(300ms);  // some are done, and some are under way; whatever it hits must hold
    banks[2]->kill();
    banks[2] = start(3);
    for (std::size_t n = 0; n < 2; ++n) {
      const auto said = banks[n]->answer();
      int done = 0, again = 0, longest = 0;
      ASSERT_EQ(std::sscanf(said.c_str(), "done %d, asked again %d, longest %d ms", &done, &again, &longest), 3) << said;
      std::cout << "program " << n + 1 << ": " << said << '\n';
      EXPECT_EQ(done, count);
      EXPECT_LE(longest, 20'000) << "a command's 5 s and 3, and what a machine with other work takes";
    }
  }

  std::int64_t sum = 0;
  for (int i = 0; i < accounts; ++i) {
    std::vector<std::string> balances;
    for (const auto& bank : banks) balances.push_back(bank->ask("balance load-" + std::to_string(i)));
    EXPECT_EQ(balances[0], balances[1]);
    EXPECT_EQ(balances[0], balances[2]);
    ASSERT_THAT(balances[0], ::testing::StartsWith("balance "));
    sum += std::stoll(balances[0].substr(8));
  }
  EXPECT_EQ(sum, std::int64_t{2} * count * rounds) << "each command's effect exactly once";
  for (const auto& bank : banks) {
    const auto finished = bank->end();
    EXPECT_EQ(finished.status, 0) << finished.err;
  }
}

}  // namespace
}  // namespace evershard::testing
