// Programs with a node each, one of them killed while the others send commands to its aggregates: each command takes
// effect once, and none is left hanging. EVERSHARD_ROUNDS: how often it is killed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "evershard/doors/remote/remote.hpp"
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

/// The programs on nodes of one cluster, and what is asked of them at once.
class AggregatesOnProcesses : public ::testing::Test {
 protected:
  AggregatesOnProcesses() : banks_(programs) {
    std::vector<std::thread> starting;  // a node is ready when the coordinator has heard of it, not of all
    for (std::size_t n = 0; n < programs; ++n) starting.emplace_back([this, n] { start(n); });
    for (auto& thread : starting) thread.join();
  }
  void start(std::size_t n) {
    const auto options = cluster_.options(static_cast<std::uint32_t>(n + 1));
    banks_[n] = std::make_unique<BankProcess>(
        std::vector<std::string>{EXAMPLE_CLUSTER_BANK, std::to_string(n + 1), options.data_dir.string(),
                                 options.coordinator, options.secret_file.string(), std::to_string(options.shards)});
  }
  /// What a load or a filling says at its end: each command was answered.
  void expect_done(std::size_t n, int count) {
    const auto said = banks_[n]->answer();
    int done = 0, again = 0, longest = 0;
    ASSERT_EQ(std::sscanf(said.c_str(), "done %d, asked again %d, longest %d ms", &done, &again, &longest), 3) << said;
    std::cout << "program " << n + 1 << ": " << said << '\n';
    EXPECT_EQ(done, count);
    EXPECT_LE(longest, 60'000) << "a command's 5 s and 3, and what a machine with other work takes";
  }
  /// Where its owner is away for a moment, something else is answered.
  std::string balance(std::size_t n, const std::string& account) {
    std::string said;
    for (const auto until = std::chrono::steady_clock::now() + program_patience;
         !said.starts_with("balance ") && std::chrono::steady_clock::now() < until;)
      said = banks_[n]->ask("balance " + account);
    return said;
  }
  void end_all() {
    for (const auto& bank : banks_) {
      const auto finished = bank->end();
      EXPECT_EQ(finished.status, 0) << finished.err;
    }
  }

  EmbeddingCluster cluster_{programs};  // its coordinator; the nodes are the programs
  std::vector<std::unique_ptr<BankProcess>> banks_;
};

TEST_F(AggregatesOnProcesses, CommandsTakeEffectOnceWhileAnOwnerIsKilled) {
  const int rounds = rounds_or(1);
  for (int i = 0; i < accounts; ++i) {
    std::string said = banks_[0]->ask("open load-" + std::to_string(i));
    for (int tries = 0; tries < 20 && said.rfind("balance 0", 0) != 0; ++tries)
      said = banks_[0]->ask("open load-" + std::to_string(i));
    ASSERT_THAT(said, ::testing::StartsWith("balance 0"));
  }

  constexpr int count = 1'500;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t n = 0; n < 2; ++n)
      banks_[n]->say("load " + std::to_string(count) + " " + std::to_string(accounts) + " r" + std::to_string(round) +
                     "n" + std::to_string(n));
    std::this_thread::sleep_for(300ms);  // some are done, and some are under way; whatever it hits must hold
    banks_[2]->kill();
    start(2);
    for (std::size_t n = 0; n < 2; ++n) expect_done(n, count);
  }

  std::int64_t sum = 0;
  for (int i = 0; i < accounts; ++i) {
    std::vector<std::string> balances;
    for (std::size_t n = 0; n != banks_.size(); ++n) balances.push_back(balance(n, "load-" + std::to_string(i)));
    EXPECT_EQ(balances[0], balances[1]);
    EXPECT_EQ(balances[0], balances[2]);
    ASSERT_THAT(balances[0], ::testing::StartsWith("balance "));
    sum += std::stoll(balances[0].substr(8));
  }
  EXPECT_EQ(sum, std::int64_t{2} * count * rounds) << "each command's effect exactly once";
  end_all();
}

// A program that joined by itself opens no doors: its own command line, as a gateway beside it, takes commands by
// names.
TEST_F(AggregatesOnProcesses, AreAskedThroughAGatewayOfTheirCommandLine) {
  Process gateway({BANK_PROGRAM, "node", "--gateway", "--node", "100", "--data",
                   (cluster_.secret_file().parent_path() / "gateway").string(), "--coordinator",
                   cluster_.options(1).coordinator, "--shards", std::to_string(EmbeddingCluster::shards),
                   "--secret-file", cluster_.secret_file().string(), "--listen", "127.0.0.1:0", "--http-listen",
                   "none"});
  const auto door = gateway.ready(program_patience);
  ASSERT_FALSE(door.empty()) << gateway.errors();
  auto remote = Remote::connect({.server = door}).value();
  auto kinds = remote.kinds();
  for (const auto until = std::chrono::steady_clock::now() + program_patience;
       (!kinds || kinds->kinds.empty()) && std::chrono::steady_clock::now() < until; kinds = remote.kinds())
    std::this_thread::sleep_for(20ms);
  ASSERT_TRUE(kinds) << kinds.error().what;
  ASSERT_EQ(kinds->kinds.size(), 1u);
  EXPECT_EQ(kinds->kinds[0].type, "bank_account");

  const std::string ann =
      "\x0a\x03"
      "Ann";                             // OpenAccount.owner
  const std::string seven = "\x08\x07";  // Deposit.amount
  for (int i = 0; i < accounts; ++i) {
    const AggregateId account{"bank_account", "through-" + std::to_string(i)};
    const AskOptions options{.command_id = "one", .timeout = program_patience};
    const auto opened =
        remote.ask(account, "bank.OpenAccount", ann, {.command_id = "open", .timeout = program_patience});
    ASSERT_EQ(opened.kind, AnswerKind::replied) << opened.error.what << opened.rejection;
    const auto deposited = remote.ask(account, "bank.Deposit", seven, options);
    ASSERT_EQ(deposited.kind, AnswerKind::replied) << deposited.error.what << deposited.rejection;
    EXPECT_EQ(deposited.reply, seven);
    EXPECT_TRUE(remote.ask(account, "bank.Deposit", seven, options).duplicate);
    EXPECT_EQ(balance(static_cast<std::size_t>(i % programs), account.value), "balance 7");
  }
  gateway.signal(SIGTERM);
  EXPECT_EQ(gateway.wait(program_patience).status, 0);
  end_all();
}

// Those of a node that is gone for good come alive at another one, those of a node that comes back at that one, while
// commands to all are under way.
TEST_F(AggregatesOnProcesses, TenThousandMoveWithTheirShards) {
  constexpr int many = 10'000;
  const int deposits = std::min(many, 2'000 * rounds_or(1));
  Process gateway({EVERSHARD_PROGRAM, "node", "--gateway", "--node", "100", "--data",
                   (cluster_.secret_file().parent_path() / "gateway").string(), "--coordinator",
                   cluster_.options(1).coordinator, "--shards", std::to_string(EmbeddingCluster::shards),
                   "--secret-file", cluster_.secret_file().string(), "--listen", "127.0.0.1:0", "--http-listen",
                   "none"});
  const auto door = gateway.ready(program_patience);
  ASSERT_FALSE(door.empty()) << gateway.errors();
  auto store =
      Remote::connect({.server = door, .timeout = program_patience, .unavailable_timeout = program_patience}).value();
  const auto ordered = [&](std::uint64_t count) {
    for (const auto until = std::chrono::steady_clock::now() + program_patience;
         std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(5ms))
      if (store.head().value_or(GlobalPosition{}).value >= count) return true;
    return false;
  };
  for (;;) {  // each shard is somebody's
    const auto status = store.cluster_status();
    ASSERT_TRUE(status) << status.error().what;
    if (std::ranges::all_of(status->shards, &ClusterStatus::Shard::open)) break;
    std::this_thread::sleep_for(20ms);
  }

  banks_[2]->kill();  // before it has anything
  banks_[0]->say("fill " + std::to_string(many));
  ASSERT_TRUE(ordered(20)) << "the others' accounts are opened, its own wait";
  Finished assigned;
  for (const auto until = std::chrono::steady_clock::now() + program_patience;
       assigned.status != 0 && std::chrono::steady_clock::now() < until;)
    assigned = run({EVERSHARD_PROGRAM, "cluster", "assign", "--of", "3", "--to", "2", "--server", door});
  ASSERT_EQ(assigned.status, 0) << assigned.err;
  expect_done(0, many);
  start(2);  // whose shards are another's

  // The one that has most of them now.
  banks_[0]->say("load " + std::to_string(deposits) + " " + std::to_string(many) + " deposit");
  ASSERT_TRUE(ordered(many + 200));
  banks_[1]->kill();
  start(1);
  expect_done(0, deposits);

  std::map<std::string, std::vector<std::string>> history;
  auto all = store.read(Query::all(), {.at_least = GlobalPosition{static_cast<std::uint64_t>(many + deposits)}});
  for (const auto& event : all) {
    auto& own = history[event.aggregate->text()];
    own.push_back(event.type);
    EXPECT_EQ(event.seq_nr.value, own.size());
  }
  EXPECT_FALSE(all.error()) << all.error()->what;
  EXPECT_EQ(history.size(), std::size_t{many}) << "an account each";
  for (int i = 0; i < many; ++i) {
    std::vector<std::string> expected{"AccountOpened"};
    if (i < deposits) expected.emplace_back("Deposited");
    const auto& types = history["bank_account-load-" + std::to_string(i)];
    EXPECT_TRUE(
        std::ranges::equal(types, expected, [](const auto& type, const auto& name) { return type.ends_with(name); }))
        << "account " << i << " has " << types.size() << " events";
  }
  for (int i = 0; i < many; i += many / 10)
    EXPECT_EQ(balance(2, "load-" + std::to_string(i)), i < deposits ? "balance 1" : "balance 0");
  gateway.signal(SIGTERM);
  EXPECT_EQ(gateway.wait(program_patience).status, 0);
  end_all();
}

}  // namespace
}  // namespace evershard::testing
