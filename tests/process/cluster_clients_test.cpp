// A client of a cluster of processes: the nodes it speaks to are killed and frozen under it.

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "evershard/doors/remote/remote.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/process/process.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;

/// `evershard cluster launch`: whoever is killed is started again where it was.
class ClientsCluster {
 public:
  explicit ClientsCluster(std::size_t nodes)
      : process_({EVERSHARD_PROGRAM, "cluster", "launch", std::to_string(nodes), "--data", folder_.path().string(),
                  "--listen", "127.0.0.1:0", "--shards", "8", "--cut-log", "local"},
                 {}) {
    for (const auto& line : process_.lines(nodes + 2, 120s)) {
      std::istringstream words(line);
      std::string what, number, address, pid_word;
      int pid = 0;
      if (words >> what && what == "node" && words >> number >> address >> pid_word >> pid) {
        addresses.push_back(address);
        pids.push_back(pid);
      }
    }
    EXPECT_EQ(addresses.size(), nodes);
  }
  ~ClientsCluster() {
    process_.signal(SIGTERM);
    const auto finished = process_.wait(90s);
    EXPECT_EQ(finished.status, 0) << finished.err;
  }
  [[nodiscard]] Remote connect(RemoteOptions options) const {
    if (options.servers.empty()) options.servers = addresses;
    options.unavailable_timeout = options.timeout;  // a node that was killed may take its time to be back
    return Remote::connect(std::move(options)).value();
  }

  std::vector<std::string> addresses;
  std::vector<int> pids;

 private:
  const TemporaryFolder folder_;
  Process process_;
};

template <class Condition>
[[nodiscard]] bool comes_true(Condition condition, std::chrono::seconds within = 90s) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

// Its doors are said, one runs in a directory at a time, and why a node did not become ready is said.
TEST(ClusterLaunch, SaysWhereItsDoorsAreAndWhyItDoesNotRun) {
  const TemporaryFolder folder;
  const auto launched = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words{
        EVERSHARD_PROGRAM, "cluster", "launch",        "1",   "--data", (folder.path() / name).string(),
        "--cut-log",       "local",   "--http-listen", "none"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  Process first(
      launched("a", {"--listen", "127.0.0.1:0", "--kurrent-listen", "127.0.0.1:0", "--umadb-listen", "127.0.0.1:0"}),
      {});
  const auto lines = first.lines(3, 120s);
  ASSERT_EQ(lines.size(), 3u) << first.errors();
  std::istringstream words(lines.back());
  std::string ready, address, kurrent, kurrent_at, umadb, umadb_at;
  ASSERT_TRUE(words >> ready >> address >> kurrent >> kurrent_at >> umadb >> umadb_at) << lines.back();
  EXPECT_EQ(ready + ' ' + kurrent + ' ' + umadb, "ready kurrent umadb");

  Process again(launched("a", {"--listen", "127.0.0.1:0"}), {});
  const auto refused = again.wait();
  EXPECT_EQ(refused.status, 6);
  EXPECT_NE(refused.err.find("another process launched it"), std::string::npos) << refused.err;

  Process elsewhere(launched("b", {"--listen", address}), {});
  const auto in_use = elsewhere.wait(120s);
  EXPECT_EQ(in_use.status, 6);
  EXPECT_NE(in_use.err.find("node 1 did not become ready: unavailable: cannot listen on " + address), std::string::npos)
      << in_use.err;
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait(90s).status, 0);
}

TEST(ClusterClients, GoOnWhenTheNodesTheySpeakToAreKilled) {
  ClientsCluster cluster(3);
  auto store = cluster.connect({.timeout = 120s});
  std::atomic<bool> over{false};
  std::mutex mutex;
  std::map<EventId, GlobalPosition> acknowledged;
  std::atomic<std::size_t> count{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t n = 0; !over; ++n) {
        const auto aggregate = "order-" + std::to_string(t * 3 + static_cast<int>(n % 3));
        Append append;
        append.event(aggregate, "Placed", std::to_string(n)).expect(aggregate, Version::exactly(SeqNr(n / 3)));
        append.events.front().id = EventId::random();
        const auto id = append.events.front().id;
        const auto done = store.append(std::move(append));
        ASSERT_TRUE(done) << done.error().what;
        std::uint64_t own = 0;
        auto stream = store.read(aggregate);
        for (const auto& event : stream) own = event.seq_nr.value;
        ASSERT_FALSE(stream.error()) << stream.error()->what;
        ASSERT_EQ(own, n / 3 + 1) << "one's own writes";
        const std::lock_guard lock(mutex);
        acknowledged.emplace(id, done->first_position);
        ++count;
      }
    });
  }
  std::vector<std::uint64_t> followed;
  std::atomic<std::uint64_t> followed_to{0};
  std::atomic<bool> all_written{false};
  std::thread follower([&] {
    auto feed = store.follow(Query::all());
    while (!all_written || followed_to < store.seen().value) {
      const auto item = feed.next(200ms);
      ASSERT_TRUE(item) << item.error().what;
      for (const auto& event : item->events) followed.push_back(event.position.value);
      followed_to = std::max(followed_to.load(), item->watermark.value);
    }
  });

  for (const int node : {0, 1}) {
    const auto enough = count + 30;
    EXPECT_TRUE(comes_true([&] { return count >= enough; }));
    ::kill(cluster.pids[static_cast<std::size_t>(node)], SIGKILL);
  }
  const auto enough = count + 30;
  EXPECT_TRUE(comes_true([&] { return count >= enough; }));
  over = true;
  for (auto& thread : threads) thread.join();
  all_written = true;
  follower.join();

  auto other = cluster.connect({.servers = {cluster.addresses.back()}, .timeout = 60s, .seen = store.seen()});
  std::uint64_t next = 1;
  std::map<EventId, GlobalPosition> stored;
  auto stream = other.read(Query::all());
  for (const auto& event : stream) {
    EXPECT_EQ(event.position.value, next++);
    EXPECT_TRUE(stored.emplace(event.id, event.position).second) << "stored twice";
  }
  ASSERT_FALSE(stream.error()) << stream.error()->what;
  EXPECT_EQ(stored, acknowledged);
  std::vector<std::uint64_t> all;
  for (std::uint64_t position = 1; position < next; ++position) all.push_back(position);
  EXPECT_EQ(followed, all);
}

TEST(ClusterClients, LeaveANodeThatIsFrozen) {
  ClientsCluster cluster(3);
  auto store = cluster.connect({.timeout = 60s, .keepalive = 500ms});
  ASSERT_TRUE(store.append(Append{}.event("order-1", "Placed", "x")));
  ::kill(cluster.pids[0], SIGSTOP);
  EXPECT_TRUE(store.stats()) << "of another node";
  EXPECT_TRUE(store.head());
  ::kill(cluster.pids[0], SIGCONT);
  EXPECT_TRUE(store.append(Append{}.event("order-1", "Placed", "x")));
  EXPECT_EQ(store.head()->value, 2u);
}

}  // namespace
}  // namespace evershard::testing
