// Kill rounds of a consumer group: workers in processes of their own, killed and frozen, while their server is killed
// too. At the end every event was acknowledged, settled once in the group's state, and no aggregate's event was given
// out before the one before it was settled.
//
// The test starts itself as the workers (`--worker`). EVERSHARD_ROUNDS and EVERSHARD_SEED steer it.

#include <evershard/local.hpp>

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <random>
#include <sstream>

#include "tests/process/server_process.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using testing::Process;
using testing::ServerFolder;
using testing::ServerProcess;

constexpr int group_workers = 3;
constexpr int group_aggregates = 10;

long long now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Works until standard input ends. `D POSITION AGGREGATE SEQ_NR NS` before it settles an event, `A POSITION` behind.
int worker(const std::string& server) {
  std::atomic<bool> over{false};
  std::thread watch([&] {
    char byte = 0;
    while (::read(0, &byte, 1) > 0) {
    }
    over = true;
  });
  const auto say = [](const std::string& line) { (void)!::write(1, line.data(), line.size()); };
  auto remote = Remote::connect({.server = server, .timeout = 2s});
  std::mt19937 random(static_cast<std::uint32_t>(::getpid()));
  while (remote && !over) {
    auto joined = remote->groups().join_group("g", {.credit = 4});
    if (!joined) {
      std::this_thread::sleep_for(20ms);
      continue;
    }
    while (!over) {
      const auto next = joined->next(50ms);
      if (!next) break;
      if (!*next) continue;
      const auto& event = (*next)->event;
      say("D " + std::to_string(event.position.value) + ' ' + event.aggregate->text() + ' ' +
          std::to_string(event.seq_nr.value) + ' ' + std::to_string(now_ns()) + '\n');
      if (random() % 15 == 0)
        (void)joined->reject(**next, "now and then");
      else if (joined->acknowledge(**next))
        say("A " + std::to_string(event.position.value) + '\n');
    }
  }
  watch.join();
  return remote ? 0 : 1;
}

struct Told {
  std::map<std::string, std::map<std::uint64_t, long long>>
      first;                          ///< of each aggregate: seq_nr -> when it was given out first
  std::set<std::uint64_t> positions;  ///< that were given out
  std::size_t acknowledged = 0;
};

void gather(const std::string& out, Told& told) {
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, aggregate;
    std::uint64_t position = 0, seq_nr = 0;
    long long ns = 0;
    words >> kind >> position;
    if (kind == "A") ++told.acknowledged;
    if (kind != "D" || !(words >> aggregate >> seq_nr >> ns)) continue;  // killed in the middle of a line
    told.positions.insert(position);
    auto& when = told.first[aggregate].emplace(seq_nr, ns).first->second;
    when = std::min(when, ns);
  }
}

TEST(GroupKillRounds, EveryEventIsSettledOnceInOrderWhateverDies) {
  const char* rounds_text = std::getenv("EVERSHARD_ROUNDS");
  const char* seed_text = std::getenv("EVERSHARD_SEED");
  const int rounds = rounds_text ? std::atoi(rounds_text) : 4;
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);

  ServerFolder folder;
  ServerProcess server((folder.path() / "data").string());
  GroupSettings settings{.attempts_max = 1'000, .retry_first = 1ms, .retry_most = 20ms, .lease = 1s, .window = 50};
  {
    auto remote = server.connect();
    ASSERT_TRUE(remote.groups().create_group({.name = "g", .query = Query{}.types({"Placed"}), .settings = settings}));
  }
  const auto start = [&] {
    return std::make_unique<Process>(std::vector<std::string>{"/proc/self/exe", "--worker", server.address()});
  };
  std::vector<std::unique_ptr<Process>> workers;
  for (int w = 0; w < group_workers; ++w) workers.push_back(start());

  Told told;
  std::uint64_t appended = 0;
  const auto append = [&](int events) {
    auto remote = server.connect();
    for (int i = 0; i < events; ++i) {
      ASSERT_TRUE(
          remote.append(Append{}.event("order-" + std::to_string(random() % group_aggregates), "Placed", "{}")));
      ++appended;
    }
  };
  for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
    append(60);
    auto& one = workers[random() % workers.size()];
    one->signal(SIGKILL);
    gather(one->wait().out, told);
    one = start();
    auto& other = workers[random() % workers.size()];
    const bool freeze = round % 2 == 0;
    if (freeze) other->signal(SIGSTOP);
    server.kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 100));
    ASSERT_NO_FATAL_FAILURE(server.start());
    append(20);
    if (freeze) {
      std::this_thread::sleep_for(settings.lease + std::chrono::milliseconds(random() % 300));
      other->signal(SIGCONT);
    }
  }
  auto remote = server.connect();
  const auto deadline = std::chrono::steady_clock::now() + 120s;
  GroupInfo info;
  do {
    std::this_thread::sleep_for(20ms);
    const auto now = remote.groups().group("g");
    ASSERT_TRUE(now) << now.error().what;
    info = *now;
  } while ((info.acknowledged < appended || info.unsettled > 0) && std::chrono::steady_clock::now() < deadline);
  EXPECT_EQ(info.acknowledged, appended) << "each once, in the state";
  EXPECT_EQ(info.unsettled, 0u);
  EXPECT_EQ(info.parked, 0u);
  for (auto& process : workers) {
    process->close_input();
    const auto finished = process->wait(60s);
    EXPECT_EQ(finished.status, 0) << finished.err;
    gather(finished.out, told);
  }
  EXPECT_EQ(told.positions.size(), appended) << "every event was given out";
  EXPECT_GT(told.acknowledged, 0u);
  for (const auto& [aggregate, given] : told.first) {
    std::uint64_t expected = 0;
    long long before = 0;
    for (const auto& [seq_nr, ns] : given) {
      EXPECT_EQ(seq_nr, ++expected) << aggregate;
      EXPECT_GT(ns, before) << aggregate << ": " << seq_nr << " was given out before the one before it";
      before = ns;
    }
  }
  server.terminate();
}

}  // namespace
}  // namespace evershard

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--worker") return evershard::worker(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
