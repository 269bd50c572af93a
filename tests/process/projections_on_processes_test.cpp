// Programs with a node each, and projections among them: the home is killed while it catches up, and rows equal a
// recomputation from the events all the same, asked of each node. EVERSHARD_ROUNDS: how often it is killed.

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/cluster/embedded/embedding_cluster.hpp"
#include "tests/process/process.hpp"

namespace evershard::testing {
namespace {

constexpr std::size_t homes = 3;
constexpr auto homes_patience = 120s;

class ProjectionsOnProcesses : public ::testing::Test {
 protected:
  struct Node {
    std::unique_ptr<Process> process{};
    std::size_t said = 0;
  };

  ProjectionsOnProcesses() : nodes_(homes + 1) {
    std::vector<std::thread> starting;
    for (std::size_t n = 1; n <= homes; ++n) starting.emplace_back([this, n] { start(n); });
    for (auto& thread : starting) thread.join();
  }
  void start(std::size_t n) {
    const auto options = cluster_.options(static_cast<std::uint32_t>(n));
    nodes_[n] = {std::make_unique<Process>(std::vector<std::string>{
                     EVERSHARD_PROJECTIONS_NODE, std::to_string(n), options.data_dir.string(), options.coordinator,
                     options.secret_file.string(), std::to_string(options.shards)}),
                 0};
    EXPECT_EQ(nodes_[n].process->lines(1, homes_patience), std::vector<std::string>{"ready"})
        << nodes_[n].process->errors();
  }
  std::string ask(std::size_t n, const std::string& line) {
    auto& node = nodes_[n];
    node.process->write(line + "\n");
    const auto lines = node.process->lines(++node.said + 1, homes_patience);
    return lines.size() == node.said + 1 ? lines.back() : "nothing";
  }
  void kill(std::size_t n) {
    nodes_[n].process->signal(SIGKILL);
    EXPECT_EQ(nodes_[n].process->wait(homes_patience).status, 128 + SIGKILL);
  }

  EmbeddingCluster cluster_{homes};
  std::vector<Node> nodes_;
};

TEST_F(ProjectionsOnProcesses, RowsEqualARecomputationWhoeverIsKilled) {
  EXPECT_EQ(ask(1, "append 60 1"), "done");
  const auto index = ask(2, "define");
  ASSERT_EQ(index.size(), 17u) << index;
  ASSERT_EQ(ask(3, "compare " + index).substr(0, 6), "equal ");
  const auto rounds = rounds_or(1);
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto home = static_cast<std::size_t>(std::stoul(ask(1, "home")));
    ASSERT_TRUE(home >= 1 && home <= homes);
    const auto other = home % homes + 1;
    EXPECT_EQ(ask(other, "append 60 " + std::to_string(2 + round)), "done");
    EXPECT_EQ(ask(other, "reset"), "done");
    kill(home);  // the table is being built anew, the others are behind
    start(home);
    for (std::size_t n = 1; n <= homes; ++n) {
      const auto compared = ask(n, "compare " + index);
      EXPECT_EQ(compared.substr(0, 6), "equal ") << "node " << n << ": " << compared;
    }
  }
  for (std::size_t n = 1; n <= homes; ++n) {
    nodes_[n].process->close_input();
    const auto ended = nodes_[n].process->wait(homes_patience);
    EXPECT_EQ(ended.status, 0) << ended.err;
  }
}

}  // namespace
}  // namespace evershard::testing
