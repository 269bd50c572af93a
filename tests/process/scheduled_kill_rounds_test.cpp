// Kill rounds of scheduled appends: a client schedules and cancels while the server is killed and started again. At the
// end each was made once, none early, none that was cancelled.
//
// EVERSHARD_KILL_ROUNDS and EVERSHARD_SEED steer it.

#include <atomic>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "tests/process/server_process.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using testing::ServerFolder;
using testing::ServerProcess;

struct Told {
  Timestamp due{};
  bool cancelled = false;
};

/// Schedules one after the other until it is told to end; a quarter is cancelled again, most of them in time.
class SchedulingClient {
 public:
  SchedulingClient(const ServerProcess& server, int number, std::uint64_t seed)
      : remote_(server.answered_client(60s)), number_(number), dice_(seed), thread_([this] { run(); }) {}
  ~SchedulingClient() { finish(); }
  std::map<std::string, Told> finish() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
    return told_;
  }
  std::size_t answered() const { return answered_; }

 private:
  std::uint32_t roll(std::uint32_t below) { return std::uniform_int_distribution<std::uint32_t>(0, below - 1)(dice_); }
  void run() {
    for (int n = 0; !over_; ++n) {
      const auto id = std::to_string(number_) + "-" + std::to_string(n);
      const auto scheduled = remote_.scheduled().schedule(
          {.id = id,
           .due = Timestamp{Timestamp::now().micros + roll(1'200'000)},
           .append =
               Append{}.event("thing-" + id, "Done", id).event("account-" + std::to_string(roll(20)), "Also", id)});
      ASSERT_TRUE(scheduled) << scheduled.error().what;
      auto& told = told_[id];
      told.due = scheduled->due;
      ++answered_;
      if (roll(4) == 0) {
        const auto cancelled = remote_.scheduled().cancel(id);
        if (cancelled)
          told.cancelled = true;
        else
          ASSERT_EQ(cancelled.error().code, ErrorCode::condition_failed) << cancelled.error().what;
      }
    }
  }

  Remote remote_;
  const int number_;
  std::mt19937_64 dice_;
  std::map<std::string, Told> told_;
  std::atomic<std::size_t> answered_{0};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// A slow disk has them answered slowly, and the rounds are as long as they are: what is too little to mean anything
/// is waited for.
void wait_for_enough(const std::vector<std::unique_ptr<SchedulingClient>>& clients) {
  const auto until = std::chrono::steady_clock::now() + 120s;
  for (std::size_t answered = 0; answered <= 100; std::this_thread::sleep_for(20ms)) {
    answered = 0;
    for (const auto& client : clients) answered += client->answered();
    ASSERT_LT(std::chrono::steady_clock::now(), until) << "only " << answered << " were answered";
  }
}

void expect_each_once(Remote& remote, const std::map<std::string, Told>& told) {
  for (const auto until = std::chrono::steady_clock::now() + 120s; std::chrono::steady_clock::now() < until;
       std::this_thread::sleep_for(50ms)) {
    const auto waiting = remote.scheduled().list({.limit = 1});
    ASSERT_TRUE(waiting) << waiting.error().what;
    if (waiting->scheduled.empty()) break;
  }
  std::map<std::string, int> made;
  auto events = remote.read(Query{}.types({"Done"}));
  for (const auto& event : events) {
    ++made[event.payload];
    ASSERT_TRUE(told.contains(event.payload));
    EXPECT_GE(event.occurred_at, told.at(event.payload).due) << "early: " << event.payload;
  }
  ASSERT_FALSE(events.error()) << events.error()->what;
  for (const auto& [id, one] : told) {
    EXPECT_EQ(made[id], one.cancelled ? 0 : 1) << id;
    const auto end = remote.scheduled().get(id);
    ASSERT_TRUE(end) << end.error().what;
    EXPECT_EQ(end->state, one.cancelled ? ScheduledState::cancelled : ScheduledState::appended) << id;
  }
}

TEST(ScheduledKillRounds, EachIsMadeOnceAndNoneThatWasCancelled) {
  const char* rounds_text = std::getenv("EVERSHARD_KILL_ROUNDS");
  const char* seed_text = std::getenv("EVERSHARD_SEED");
  const int rounds = rounds_text ? std::atoi(rounds_text) : 5;
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr int rounds_a_store = 10;
  for (int first = 0; first < rounds && !::testing::Test::HasFailure(); first += rounds_a_store) {
    ServerFolder folder;
    ServerProcess server((folder.path() / "data").string());
    std::vector<std::unique_ptr<SchedulingClient>> clients;
    for (int n = 0; n != 3; ++n) clients.push_back(std::make_unique<SchedulingClient>(server, n, random()));
    for (int round = first; round < std::min(rounds, first + rounds_a_store); ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200 + random() % 600));
      server.kill();
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 400));
      ASSERT_NO_FATAL_FAILURE(server.start());
    }
    ASSERT_NO_FATAL_FAILURE(wait_for_enough(clients));
    std::map<std::string, Told> told;
    for (auto& client : clients) told.merge(client->finish());
    auto remote = server.connect();
    ASSERT_NO_FATAL_FAILURE(expect_each_once(remote, told));
    server.terminate();
  }
}

}  // namespace
}  // namespace evershard
