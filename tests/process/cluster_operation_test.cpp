// What an operator does with a cluster of processes: asks how it is, gives up a node that is gone for good, makes a lost cut log anew.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "tests/contract/temporary_folder.hpp"
#include "tests/process/process.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

bool before_long(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(100ms);
  }
  return true;
}

class OperatedCluster : public ::testing::Test {
 protected:
  OperatedCluster() {
    std::ofstream(secret()) << "a secret of more than sixteen bytes\n";
    ::chmod(secret().c_str(), 0600);
  }
  [[nodiscard]] std::string secret() const { return (folder_.path() / "secret").string(); }
  [[nodiscard]] std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
  static std::string ready(Process& process) {
    const auto lines = process.lines(1, 120s);
    return lines.empty() ? "" : lines.front().substr(std::string("ready ").size(), lines.front().find(' ', 6) - 6);
  }
  void start_coordinator(const std::string& data) {
    coordinator_ = std::make_unique<Process>(std::vector<std::string>{EVERSHARD_PROGRAM, "coordinator", "--data", in(data), "--listen", "127.0.0.1:0", "--nodes", "2", "--shards", "4", "--secret-file", secret()});
    coordinator_at_ = ready(*coordinator_);
  }
  void start_node(int number) {
    auto& node = nodes_[number];
    node = std::make_unique<Process>(std::vector<std::string>{EVERSHARD_PROGRAM, "node", "--node", std::to_string(number), "--data", in("node-" + std::to_string(number)), "--coordinator", coordinator_at_, "--shards", "4",
                                                              "--secret-file", secret(), "--listen", "127.0.0.1:0", "--http-listen", "none"});
    door_[number] = ready(*node);
  }
  void stop_all() {
    for (auto& [number, node] : nodes_) {
      node->signal(SIGTERM);
      EXPECT_EQ(node->wait().status, 0);
    }
    nodes_.clear();
    coordinator_->signal(SIGTERM);
    EXPECT_EQ(coordinator_->wait().status, 0);
    coordinator_.reset();
  }
  static Finished command(std::vector<std::string> words) {
    words.insert(words.begin(), EVERSHARD_PROGRAM);
    return run(words);
  }
  [[nodiscard]] std::string status() { return command({"cluster", "status", "--server", door_[1]}).out; }
  static std::size_t times(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  }
  void append_some(const std::string& prefix) {
    for (int i = 0; i < 8; ++i) {
      const auto done = command({"append", "--server", door_[1], "--aggregate", "order-" + prefix + std::to_string(i), "--type", "Placed", "--payload", "{}"});
      ASSERT_EQ(done.status, 0) << done.err;
    }
  }

  TemporaryFolder folder_;
  std::unique_ptr<Process> coordinator_;
  std::map<int, std::unique_ptr<Process>> nodes_;
  std::string coordinator_at_;
  std::map<int, std::string> door_;
};

TEST_F(OperatedCluster, IsAskedGivenUpInPartAndMadeAnew) {
  start_coordinator("order");
  start_node(1);
  start_node(2);
  ASSERT_TRUE(before_long([&] { return times(status(), "\"state\":\"open\"") == 4; })) << status();
  EXPECT_THAT(status(), AllOf(HasSubstr("\"kind\":\"cluster\""), HasSubstr("\"door\":\"" + door_[2] + "\""), HasSubstr("\"coordinator_up\":true")));
  EXPECT_EQ(times(status(), "\"up\":true"), 2u);
  const auto table = command({"cluster", "status", "--server", door_[2], "--format", "table"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("asked at     node 2"), HasSubstr("NODE  STATE"), HasSubstr("SHARD  NODE  STATE")));
  append_some("a");

  const auto there = command({"cluster", "assign", "--of", "2", "--to", "1", "--server", door_[1]});
  EXPECT_EQ(there.status, 5) << there.err;
  EXPECT_THAT(there.err, HasSubstr("is of node 2, which is here and has it"));

  nodes_[2]->signal(SIGKILL);
  nodes_[2]->wait();
  nodes_.erase(2);
  ASSERT_TRUE(before_long([&] { return times(status(), "\"up\":false") == 1; })) << status();
  EXPECT_EQ(times(status(), "\"state\":\"down\""), 2u);

  const auto named = command({"cluster", "assign", "--of", "2", "--to", "1", "--server", door_[1]});
  EXPECT_EQ(named.status, 8);
  EXPECT_THAT(named.err, AllOf(HasSubstr("nothing was done"), HasSubstr("would lose its events at offsets 1 to"), HasSubstr("--accept-loss ")));
  std::vector<std::string> words{"cluster", "assign", "--of", "2", "--to", "1", "--server", door_[1]};
  for (auto at = named.err.find("--accept-loss "); at != std::string::npos; at = named.err.find("--accept-loss ", at + 1)) {
    const auto from = at + std::string("--accept-loss ").size();
    words.insert(words.end(), {"--accept-loss", named.err.substr(from, named.err.find_first_of(" \n)`", from) - from)});
  }
  const auto done = command(words);
  ASSERT_EQ(done.status, 0) << done.err;
  ASSERT_TRUE(before_long([&] { return times(status(), "\"state\":\"open\"") == 4; })) << status();
  append_some("b");
  const auto over = command({"query", "--server", door_[1], "--type", "Placed"});
  EXPECT_EQ(over.status, 8) << over.err;
  EXPECT_THAT(over.err, HasSubstr("for good"));
  const auto behind = command({"query", "--server", door_[1], "--type", "Placed", "--after", "8"});
  EXPECT_EQ(behind.status, 0) << behind.err;
  EXPECT_EQ(times(behind.out, "\"position\""), 8u);
  stop_all();

  // The coordinator's directory is gone, and so is node 2's.
  std::filesystem::remove_all(in("order"));
  const auto looked = command({"recover", "--cut-log", "--data", in("order"), "--from", in("node-1"), "--yes"});
  EXPECT_EQ(looked.status, 8);
  EXPECT_THAT(looked.err, HasSubstr("positions have no event in these directories"));
  EXPECT_FALSE(std::filesystem::exists(in("order")));
  const auto made = command({"recover", "--cut-log", "--data", in("order"), "--from", in("node-1"), "--yes", "--accept-unknown"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("\"watermark\":16"));
  start_coordinator("order");
  start_node(1);
  ASSERT_TRUE(before_long([&] { return times(status(), "\"state\":\"open\"") == 4; })) << status();
  append_some("c");
  const auto again = command({"query", "--server", door_[1], "--type", "Placed", "--after", "8"});
  EXPECT_EQ(times(again.out, "\"position\""), 16u) << again.err;
  EXPECT_THAT(again.out, HasSubstr("\"position\":17,"));
  stop_all();
}

TEST(ClusterCommands, RefuseAStoreInOneProcess) {
  const auto directory = run({EVERSHARD_PROGRAM, "cluster", "status", "--data", "anything"});
  EXPECT_EQ(directory.status, 5);
  EXPECT_THAT(directory.err, HasSubstr("it has no cluster"));
  const TemporaryFolder folder;
  Process server({EVERSHARD_PROGRAM, "serve", "--data", (folder.path() / "data").string(), "--listen", "127.0.0.1:0", "--http-listen", "none"});
  const auto lines = server.lines(1, 120s);
  ASSERT_FALSE(lines.empty());
  const auto address = lines.front().substr(6, lines.front().find(' ', 6) - 6);
  for (const auto& words : std::vector<std::vector<std::string>>{{"cluster", "status"}, {"cluster", "assign", "1", "--to", "2"}}) {
    std::vector<std::string> all{EVERSHARD_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--server", address});
    const auto refused = run(all);
    EXPECT_EQ(refused.status, 5) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("it has no cluster"));
  }
  const auto none = run({EVERSHARD_PROGRAM, "cluster", "status"});
  EXPECT_EQ(none.status, 2);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status, 0);
}

}  // namespace
}  // namespace evershard::testing
