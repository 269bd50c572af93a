// A cluster of processes, killed at random while clients append: each acknowledged append is there once, at its position, on every node;
// every retry is answered with what was stored. EVERSHARD_KILL_ROUNDS and EVERSHARD_SEED steer it.

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

#include "evershard/cluster/remote/remote.hpp"
#include "tests/process/process.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t nodes = 3;
constexpr int clients = 4;

/// `evershard cluster launch`, and what it says of its processes.
class LaunchedCluster {
 public:
  explicit LaunchedCluster(const std::filesystem::path& folder)
      : process_({EVERSHARD_PROGRAM, "cluster", "launch", std::to_string(nodes), "--data", folder.string(), "--listen", "127.0.0.1:0", "--shards", "8"}, {}) {
    for (const auto& line : process_.lines(nodes + 2, 120s)) {
      std::istringstream words(line);
      std::string what, number;
      words >> what;
      if (what == "node") {
        std::string address;
        words >> number >> address;
        addresses.push_back(address);
      }
    }
  }
  /// The pid of the process that serves this part of the folder now; 0: none.
  static int pid_of(const std::filesystem::path& data) {
    std::ifstream owner(data / "OWNER");
    std::string word;
    while (owner >> word) {
      if (word.find_first_not_of("0123456789,") == std::string::npos && word.size() > 1) return std::atoi(word.c_str());
    }
    return 0;
  }
  void terminate() {
    process_.signal(SIGTERM);
    const auto finished = process_.wait(90s);
    EXPECT_EQ(finished.status, 0) << finished.err;
  }

  std::vector<std::string> addresses;

 private:
  Process process_;
};

struct Acknowledged {
  GlobalPosition first;
  std::vector<std::string> payloads;
};

TEST(ClusterKillRounds, LoseNothingAndDoubleNothing) {
  const char* const seed_text = std::getenv("EVERSHARD_SEED");
  const std::uint64_t seed = seed_text != nullptr ? std::stoull(seed_text) : std::random_device{}();
  const char* const rounds_text = std::getenv("EVERSHARD_KILL_ROUNDS");
  const int rounds = rounds_text != nullptr ? std::stoi(rounds_text) : 4;
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  const TemporaryFolder folder;
  LaunchedCluster cluster(folder.path());
  ASSERT_EQ(cluster.addresses.size(), nodes);

  std::atomic<bool> over{false};
  std::mutex mutex;
  std::map<EventId, Acknowledged> acknowledged;
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int c = 0; c < clients; ++c) {
    threads.emplace_back([&, c] {
      std::mt19937_64 random(seed + static_cast<std::uint64_t>(c));
      std::vector<Remote> stores;
      for (const auto& address : cluster.addresses) stores.push_back(Remote::connect({.server = address, .timeout = 2s}).value());
      for (int i = 0; !over; ++i) {
        const auto name = std::to_string(c) + "-" + std::to_string(i);
        Append append;
        append.request_id = EventId::random();
        append.event("order-" + std::to_string(random() % 40), "Placed", name + ".a", {"name:" + name});
        if (random() % 2 == 0) append.event("account-" + std::to_string(random() % 40), "Charged", name + ".b");
        if (random() % 2 == 0) append.fail_if(Query().tags({"name:" + name}), GlobalPosition{0});
        std::vector<std::string> payloads;
        for (const auto& event : append.events) payloads.push_back(event.payload);
        // The same request until somebody answers it; whoever is asked.
        for (;;) {
          const auto done = stores[random() % nodes].append(append);
          if (done) {
            const std::lock_guard lock(mutex);
            acknowledged[*append.request_id] = {done->first_position, payloads};
            break;
          }
          const auto code = done.error().code;
          EXPECT_TRUE(code == ErrorCode::unavailable || code == ErrorCode::timeout || code == ErrorCode::fenced || code == ErrorCode::wrong_shard || code == ErrorCode::overloaded)
              << done.error().what;
          ++refused;
          std::this_thread::sleep_for(20ms);
        }
      }
    });
  }

  std::mt19937_64 random(seed);
  int kills = 0;
  for (int round = 0; round < rounds; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + random() % 700));
    const auto which = random() % (nodes + 1);
    const int pid = LaunchedCluster::pid_of(folder.path() / (which == 0 ? std::string("coordinator") : "node-" + std::to_string(which)));
    kills += pid > 1 && ::kill(pid, SIGKILL) == 0 ? 1 : 0;
    std::this_thread::sleep_for(2s);
  }
  over = true;
  for (auto& thread : threads) thread.join();

  std::map<std::uint64_t, std::string> stored;
  for (const auto& address : cluster.addresses) {
    auto store = Remote::connect({.server = address, .timeout = 30s}).value();
    GlobalPosition last;
    for (const auto& [id, append] : acknowledged) last = std::max(last, append.first + (append.payloads.size() - 1));
    std::map<std::uint64_t, std::string> here;
    auto stream = store.read(Query::all(), {.at_least = last});
    std::uint64_t next = 1;
    for (const auto& event : stream) {
      EXPECT_EQ(event.position.value, next++) << "I-Dense";
      here.emplace(event.position.value, event.payload);
    }
    ASSERT_FALSE(stream.error()) << stream.error()->what;
    if (stored.empty()) stored = here;
    EXPECT_EQ(here, stored) << "every node reads the same";
  }
  std::map<std::string, int> times;
  for (const auto& [position, payload] : stored) ++times[payload];
  for (const auto& [payload, count] : times) EXPECT_EQ(count, 1) << "I-Once: " << payload;
  for (const auto& [id, append] : acknowledged) {
    for (std::size_t i = 0; i < append.payloads.size(); ++i) EXPECT_EQ(stored[append.first.value + i], append.payloads[i]) << "I-Durable, I-Together";
  }
  EXPECT_GT(kills, rounds / 2) << "hardly anything was killed";
  EXPECT_GT(acknowledged.size(), 20u) << "hardly anything was stored; refused: " << refused;
  std::printf("%d kills, %zu appends acknowledged, %zu events, %d attempts refused\n", kills, acknowledged.size(), stored.size(), refused.load());
  cluster.terminate();
}

}  // namespace
}  // namespace evershard::testing
