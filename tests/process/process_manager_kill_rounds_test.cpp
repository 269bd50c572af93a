// Programs that run a process, fire timers and make scheduled appends, killed at any moment: every transfer comes to
// its end once, every order is cancelled by its timer once, every scheduled append is made once, no money is made or
// lost. EVERSHARD_ROUNDS and EVERSHARD_SEED steer it.

#include <gtest/gtest.h>
#include <signal.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/cluster/embedded/embedding_cluster.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/process/process.hpp"

namespace evershard::testing {
namespace {

constexpr auto patience = 120s;

class Program {
 public:
  explicit Program(std::vector<std::string> words) : words_(std::move(words)) { start(); }
  void start() {
    process_ = std::make_unique<Process>(words_);
    said_ = 0;
    EXPECT_EQ(process_->lines(1, patience), std::vector<std::string>{"ready"}) << process_->errors();
  }
  void say(const std::string& line) { process_->write(line + "\n"), ++said_; }
  std::string answer() {
    const auto lines = process_->lines(said_ + 1, patience);
    return lines.size() == said_ + 1 ? lines.back() : "nothing; " + process_->errors();
  }
  std::string ask(const std::string& line) {
    say(line);
    return answer();
  }
  void kill() {
    process_->signal(SIGKILL);
    EXPECT_EQ(process_->wait(patience).status, 128 + SIGKILL);
  }
  void end() {
    process_->close_input();
    const auto ended = process_->wait(patience);
    EXPECT_EQ(ended.status, 0) << ended.err;
  }

 private:
  std::vector<std::string> words_;
  std::unique_ptr<Process> process_;
  std::size_t said_ = 0;
};

std::string words_of(const char* what, int first, int count) {
  return std::string(what) + " " + std::to_string(first) + " " + std::to_string(count);
}

TEST(ProcessManagerKillRounds, OfOneProgram) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const TemporaryFolder folder;
  Program program({EVERSHARD_TRANSFERS, "local", (folder.path() / "data").string()});
  ASSERT_EQ(program.ask("open"), "done");
  constexpr int batch = 40;
  const auto rounds = rounds_or(6);
  for (int round = 0; round < rounds; ++round) {
    program.say(words_of("request", round * batch, batch));
    program.say(words_of("place", round * batch, batch) + " 500");
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 400));
    program.kill();
    program.start();
    // What it did not come to.
    ASSERT_EQ(program.ask(words_of("request", round * batch, batch)), "done") << "round " << round;
    ASSERT_EQ(program.ask(words_of("place", round * batch, batch) + " 500"), "done") << "round " << round;
  }
  EXPECT_EQ(program.ask(words_of("check", rounds * batch, rounds * batch)), "whole");
  program.end();
}

/// The cluster's nodes, as programs.
std::vector<std::unique_ptr<Program>> started(EmbeddingCluster& cluster, std::uint32_t nodes) {
  std::vector<std::unique_ptr<Program>> programs(nodes);
  std::vector<std::thread> starting;
  for (std::uint32_t n = 0; n != nodes; ++n)
    starting.emplace_back([&, n] {
      const auto options = cluster.options(n + 1);
      programs[n] = std::make_unique<Program>(
          std::vector<std::string>{EVERSHARD_TRANSFERS, "node", std::to_string(n + 1), options.data_dir.string(),
                                   options.coordinator, options.secret_file.string(), std::to_string(options.shards)});
    });
  for (auto& thread : starting) thread.join();
  return programs;
}

TEST(ProcessManagerKillRounds, OfNodesOfACluster) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr std::uint32_t nodes = 3;
  EmbeddingCluster cluster(nodes);  // its coordinator; the nodes are the programs
  const auto programs = started(cluster, nodes);
  ASSERT_EQ(programs[0]->ask("open"), "done");
  constexpr int batch = 30;
  const auto rounds = rounds_or(4);
  for (int round = 0; round < rounds; ++round) {
    const auto victim = random() % nodes;
    const auto other = (victim + 1) % nodes;
    programs[other]->say(words_of("request", round * batch, batch));
    programs[other]->say(words_of("place", round * batch, batch) + " 500");
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 400));
    programs[victim]->kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 300));
    programs[victim]->start();
    ASSERT_EQ(programs[other]->answer(), "done") << "round " << round;
  }
  // Two lines were said to whoever was asked; the last one's answer is the one that counts.
  EXPECT_EQ(programs[0]->ask(words_of("request", 0, rounds * batch)), "done");
  EXPECT_EQ(programs[0]->ask(words_of("place", 0, rounds * batch) + " 500"), "done");
  EXPECT_EQ(programs[0]->ask(words_of("check", rounds * batch, rounds * batch)), "whole");
  for (auto& program : programs) program->end();
}

// Three nodes keep each shard: when one is killed, others write its shards at once, and are given shards of theirs back
// some time after it came. Now and then it is the coordinator that is away.
TEST(ProcessManagerKillRounds, OfNodesWithReplicas) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr std::uint32_t nodes = 3;
  EmbeddingCluster cluster(nodes, false, nodes);
  const auto programs = started(cluster, nodes);
  ASSERT_EQ(programs[0]->ask("open"), "done");
  constexpr int batch = 20;
  const auto rounds = rounds_or(3);
  const auto say_all = [&](Program& program, int first, int count) {
    program.say(words_of("request", first, count));
    program.say(words_of("place", first, count) + " 500");
    program.say(words_of("schedule", first, count) + " 800");
  };
  for (int round = 0; round < rounds; ++round) {
    const auto victim = random() % nodes;
    const auto other = (victim + 1) % nodes;
    say_all(*programs[other], round * batch, batch);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 600));
    const bool without_coordinator = random() % 3 == 0;
    if (without_coordinator) cluster.stop_coordinator();
    programs[victim]->kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 300));
    if (without_coordinator) cluster.start_coordinator();
    // Others write its shards, whether it comes back soon or not.
    if (random() % 2 == 0) {
      ASSERT_EQ(programs[other]->answer(), "done") << "round " << round;
    }
    programs[victim]->start();
    ASSERT_EQ(programs[other]->answer(), "done") << "round " << round;
    // Shards are handed over to who has come back while the next round goes on.
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 1'000));
  }
  // What a program was asked and did not come to; the last answer is the one that counts.
  say_all(*programs[0], 0, rounds * batch);
  EXPECT_EQ(programs[0]->answer(), "done");
  const auto all = std::to_string(rounds * batch);
  EXPECT_EQ(programs[0]->ask("check " + all + " " + all + " " + all), "whole");
  for (auto& program : programs) program->end();
}

}  // namespace
}  // namespace evershard::testing
