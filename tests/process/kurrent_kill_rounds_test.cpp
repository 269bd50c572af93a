// Kill rounds of a persistent subscription: its server is killed while a client of KurrentDB's protocol acknowledges,
// refuses and parks. Every event is given, what was checkpointed does not come again, parked are those that were
// parked. EVERSHARD_ROUNDS and EVERSHARD_SEED steer it.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "tests/process/kurrent_client.hpp"
#include "tests/process/process.hpp"
#include "tests/process/server_process.hpp"
#include "tests/process/steady_port.hpp"

namespace evershard::testing {
namespace {

using Answer = KurrentConsumer::Answer;

constexpr const char* killed_stream = "order-1";
constexpr int killed_retries = 3;
constexpr int appended_a_round = 60;

bool is_parked_by_hand(std::uint64_t revision) { return revision % 11 == 5; }
bool is_poison(std::uint64_t revision) { return revision % 23 == 7 && !is_parked_by_hand(revision); }

/// The program with a door for these clients, on a port that it finds again.
class KurrentServer {
 public:
  explicit KurrentServer(std::string data)
      : data_(std::move(data)), address_("127.0.0.1:" + std::to_string(steady_port())) {
    start();
  }
  void start() {
    process_ = std::make_unique<Process>(std::vector<std::string>{EVERSHARD_PROGRAM, "serve", "--data", data_,
                                                                  "--listen", "127.0.0.1:0", "--http-listen", "none",
                                                                  "--disk-reserve", "0", "--kurrent-listen", address_});
    ASSERT_FALSE(process_->ready(std::chrono::seconds(60)).empty()) << process_->errors();
  }
  void kill() {
    process_->signal(SIGKILL);
    (void)process_->wait();
  }
  void terminate() {
    process_->signal(SIGTERM);
    EXPECT_EQ(process_->wait().status, 0) << process_->errors();
  }
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  const std::string data_;
  const std::string address_;
  std::unique_ptr<Process> process_;
};

TEST(KurrentKillRounds, NothingIsLostAndNothingCheckpointedComesAgain) {
  const char* rounds_text = std::getenv("EVERSHARD_ROUNDS");
  const char* seed_text = std::getenv("EVERSHARD_SEED");
  const int rounds = rounds_text != nullptr ? std::atoi(rounds_text) : 5;
  const std::uint64_t seed = seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);

  ServerFolder folder;
  KurrentServer server((folder.path() / "data").string());
  KurrentClient client(server.address());
  ASSERT_TRUE(client.create(killed_stream, "g", eager_settings(killed_retries)).ok());
  std::atomic<bool> takes_all{false};
  KurrentConsumer consumer(server.address(), killed_stream, "g", [&](std::uint64_t revision, int retries) {
    if (takes_all) return Answer::acknowledge;
    if (is_parked_by_hand(revision)) return Answer::park;
    if (is_poison(revision)) return Answer::retry;
    return revision % 5 == 3 && retries == 0 ? Answer::retry : Answer::acknowledge;
  });

  int appended = 0;
  for (int round = 0; round < rounds; ++round) {
    ASSERT_TRUE(client.append(killed_stream, appended_a_round).ok());
    appended += appended_a_round;
    const auto enough = consumer.seen().total + 10 + random() % (appended_a_round / 2);
    // By a call of this server: the consumer's own buffers may still have enough of the one before.
    ASSERT_TRUE(comes_true([&] { return consumer.seen().calls == round + 1 && consumer.seen().total >= enough; }))
        << consumer.seen().last_status;
    const auto before = client.info(killed_stream, "g");
    ASSERT_TRUE(before);
    consumer.nothing_up_to(checkpoint_of(*before));
    server.kill();
    ASSERT_NO_FATAL_FAILURE(server.start());
  }
  std::optional<esps::SubscriptionInfo> info;
  EXPECT_TRUE(comes_true([&] {
    info = client.info(killed_stream, "g");
    return info && checkpoint_of(*info) == appended - 1 && consumer.seen().calls == rounds + 1;
  })) << (info ? info->ShortDebugString() : "no info")
      << consumer.seen().last_status;

  auto seen = consumer.seen();
  int parked = 0;
  for (std::uint64_t revision = 0; revision < static_cast<std::uint64_t>(appended); ++revision) {
    EXPECT_GE(seen.given[revision], 1) << revision << " was never given";
    EXPECT_LE(seen.retries_max[revision], killed_retries) << revision;
    EXPECT_LE(seen.given[revision], (killed_retries + 1) * (rounds + 1)) << revision;
    if (is_poison(revision)) {
      EXPECT_GE(seen.given[revision], killed_retries + 1) << revision;
    }
    parked += is_poison(revision) || is_parked_by_hand(revision) ? 1 : 0;
  }
  EXPECT_EQ(seen.came_again, std::vector<std::uint64_t>{}) << "checkpointed, and came again";
  EXPECT_TRUE(std::is_sorted(seen.first_order.begin(), seen.first_order.end()));
  EXPECT_EQ(seen.calls, rounds + 1);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->parked_message_count(), parked);

  // What is parked outlives a kill too, and is exactly what was parked.
  server.kill();
  ASSERT_NO_FATAL_FAILURE(server.start());
  consumer.nothing_up_to(-1);
  takes_all = true;
  ASSERT_TRUE(comes_true([&] { return consumer.seen().calls == rounds + 2; }));
  const auto given_before = consumer.seen().given;
  ASSERT_TRUE(client.replay(killed_stream, "g").ok());
  EXPECT_TRUE(comes_true([&] {
    info = client.info(killed_stream, "g");
    return info && info->parked_message_count() == 0 && info->total_in_flight_messages() == 0 &&
           info->retry_buffer_count() == 0;
  }));
  for (const auto& [revision, times] : consumer.seen().given) {
    const bool again = is_poison(revision) || is_parked_by_hand(revision);
    EXPECT_EQ(times, given_before.at(revision) + (again ? 1 : 0)) << revision;
  }
  consumer.stop();
  server.terminate();
}

}  // namespace
}  // namespace evershard::testing
