// A persistent subscription on a cluster of real processes: its home is killed, and handed over, while a client of
// KurrentDB's protocol consumes through a gateway, in one call. EVERSHARD_ROUNDS steers it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "evershard/sharding/route.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/process/kurrent_client.hpp"
#include "tests/process/replicas.hpp"
#include "tests/process/steady_port.hpp"

namespace evershard::testing {
namespace {

using Answer = KurrentConsumer::Answer;

constexpr const char* homed_stream = "order-1";
constexpr std::uint32_t homed_gateway = 4;
constexpr int homed_retries = 3;

class KurrentCluster : public ::testing::Test {
 protected:
  static ClusterProcesses::Options options(const std::map<std::uint32_t, std::string>& doors) {
    auto options = replicated(3, 3);
    options.gateways = 1;
    add_flags(options, [doors](std::uint32_t number) -> std::map<std::string, std::string> {
      // Node 1 is a home without a door.
      const auto door = doors.find(number);
      if (door == doors.end()) return {};
      return {{"--kurrent-listen", door->second}};
    });
    return options;
  }
  static std::map<std::uint32_t, std::string> some_doors() {
    std::map<std::uint32_t, std::string> doors;
    for (const auto n : {2u, 3u, homed_gateway}) doors[n] = "127.0.0.1:" + std::to_string(steady_port());
    return doors;
  }
  [[nodiscard]] std::uint32_t home_of(const std::string& group) {
    const AggregateId kept_in{"$persistent",
                              std::to_string(std::string(homed_stream).size()) + ":" + homed_stream + "::" + group};
    const auto shard = sharding::shard_of(sharding::stream_hash(kept_in), cluster_.shards());
    const auto status = cluster_.connect(homed_gateway).cluster_status();
    EXPECT_TRUE(status) << status.error().what;
    return status ? status->shards.at(shard.value).node : 0;
  }
  /// So many persistent subscriptions that each node is a home.
  [[nodiscard]] std::vector<std::string> groups_everywhere() {
    std::set<std::uint32_t> homes;
    std::vector<std::string> groups;
    for (int i = 0; homes.size() < 3 && i < 100; ++i) {
      groups.push_back("g" + std::to_string(i));
      homes.insert(home_of(groups.back()));
    }
    EXPECT_EQ(homes.size(), 3u);
    return groups;
  }

  TemporaryFolder folder_;
  const std::map<std::uint32_t, std::string> doors_ = some_doors();
  ClusterProcesses cluster_{folder_.path(), options(doors_)};
};

TEST_F(KurrentCluster, AnyNodeTakesAnyCall) {
  KurrentClient gateway(doors_.at(homed_gateway)), two(doors_.at(2)), three(doors_.at(3));
  ASSERT_TRUE(gateway.append(homed_stream, 20).ok());
  const auto groups = groups_everywhere();
  for (const auto& group : groups) {
    const auto created = two.create(homed_stream, group, eager_settings(homed_retries));
    ASSERT_TRUE(created.ok()) << created.error_message();
    EXPECT_FALSE(three.create(homed_stream, group, eager_settings(homed_retries)).ok()) << "it is there";
  }
  EXPECT_THAT(two.groups_of(homed_stream), ::testing::UnorderedElementsAreArray(groups)) << "who made it sees it";
  EXPECT_TRUE(comes_true([&] { return gateway.groups_of(homed_stream).size() == groups.size(); }));
  const auto& group = groups.front();
  std::atomic<bool> parks{true};
  const auto decide = [&](std::uint64_t revision, int) {
    return parks && revision % 4 == 1 ? Answer::park : Answer::acknowledge;
  };
  {
    KurrentConsumer one(doors_.at(homed_gateway), homed_stream, group, decide, 2);
    KurrentConsumer other(doors_.at(3), homed_stream, group, decide, 2);
    ASSERT_TRUE(comes_true([&] { return one.seen().calls == 1 && other.seen().calls == 1; }));
    std::optional<esps::SubscriptionInfo> info;
    EXPECT_TRUE(comes_true([&] {
      info = two.info(homed_stream, group);
      return info && checkpoint_of(*info) == 19;
    }));
    ASSERT_TRUE(info);
    EXPECT_EQ(info->parked_message_count(), 5);
    EXPECT_EQ(info->connections_size(), 2);
    parks = false;
    ASSERT_TRUE(three.replay(homed_stream, group).ok());
    // What is replayed is neither parked nor in flight, until it is given.
    EXPECT_TRUE(comes_true([&] {
      info = gateway.info(homed_stream, group);
      return one.seen().total + other.seen().total >= 25 && info && info->parked_message_count() == 0 &&
             info->total_in_flight_messages() == 0;
    }));
    EXPECT_EQ(one.seen().total + other.seen().total, 25u) << "each once, and five again";

    // Who changes it ends its calls; they come again, and its place stays.
    auto settings = eager_settings(7);
    auto calls = std::pair(one.seen().calls, other.seen().calls);
    const auto both_came_again = [&] { return one.seen().calls > calls.first && other.seen().calls > calls.second; };
    ASSERT_TRUE(gateway.update(homed_stream, group, settings).ok());
    ASSERT_TRUE(comes_true(both_came_again));
    ASSERT_TRUE(two.append(homed_stream, 4).ok());
    EXPECT_TRUE(comes_true([&] {
      info = three.info(homed_stream, group);
      return info && checkpoint_of(*info) == 23;
    }));
    EXPECT_EQ(info->max_retry_count(), 7);
    EXPECT_EQ(one.seen().total + other.seen().total, 29u);
    calls = {one.seen().calls, other.seen().calls};
    ASSERT_TRUE(three.restart().ok());
    ASSERT_TRUE(comes_true(both_came_again));
  }
  EXPECT_TRUE(comes_true([&] {
    const auto info = two.info(homed_stream, group);
    return info && info->connections_size() == 0;
  })) << "who has left is not there any more";
  ASSERT_TRUE(gateway.remove(homed_stream, group).ok());
  EXPECT_FALSE(three.info(homed_stream, group));
  EXPECT_FALSE(two.remove(homed_stream, group).ok());
  ASSERT_TRUE(three.create(homed_stream, group, eager_settings(1)).ok());
  EXPECT_EQ(checkpoint_of(*two.info(homed_stream, group)), -1) << "of what was deleted nothing is left";

  cluster_.stop(1);
  Process without_door(cluster_.words(1));
  const auto ready = without_door.lines(1, std::chrono::seconds(60));
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_THAT(ready.front(), ::testing::Not(::testing::HasSubstr("kurrent"))) << "it is a home, and has no door";
  without_door.signal(SIGTERM);
  EXPECT_EQ(without_door.wait().status, 0);
  cluster_.start(1);
  cluster_.stop_all();
}

TEST_F(KurrentCluster, ConsumersStayWhileTheirHomesGo) {
  const char* rounds_text = std::getenv("EVERSHARD_ROUNDS");
  const int rounds = rounds_text != nullptr ? std::atoi(rounds_text) : 3;
  KurrentClient client(doors_.at(homed_gateway));
  ASSERT_TRUE(client.create(homed_stream, "g", eager_settings(homed_retries)).ok());
  KurrentConsumer consumer(doors_.at(homed_gateway), homed_stream, "g", [](std::uint64_t revision, int retries) {
    if (revision % 11 == 5) return Answer::park;
    return revision % 5 == 3 && retries == 0 ? Answer::retry : Answer::acknowledge;
  });
  int appended = 0;
  const auto append_well = [&] {
    ASSERT_TRUE(comes_true([&] { return client.append(homed_stream, 40).ok(); }));
    appended += 40;
  };
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    ASSERT_NO_FATAL_FAILURE(append_well());
    const auto enough = consumer.seen().total + 10;
    ASSERT_TRUE(comes_true([&] { return consumer.seen().total >= enough; })) << consumer.seen().last_status;
    std::optional<esps::SubscriptionInfo> info;
    ASSERT_TRUE(comes_true([&] { return (info = client.info(homed_stream, "g")).has_value(); }));
    consumer.nothing_up_to(checkpoint_of(*info));
    const auto home = home_of("g");
    ASSERT_NE(home, 0u);
    const std::uint32_t other = home % 3 + 1;
    if (round % 2 == 0) {
      cluster_.kill(home);
    } else {
      ASSERT_TRUE(cluster_.connect(other).cluster_assign({.node = home, .drain = true}));
      ASSERT_TRUE(comes_true([&] { return home_of("g") != home; }));
    }
    // The others go on without it.
    ASSERT_NO_FATAL_FAILURE(append_well());
    EXPECT_TRUE(comes_true([&] {
      info = client.info(homed_stream, "g");
      return info && checkpoint_of(*info) == appended - 1;
    })) << (info ? info->ShortDebugString() : "no info");
    if (round % 2 != 0) cluster_.stop(home);
    cluster_.start(home);
    ASSERT_TRUE(is_caught_up(cluster_, home, other));
  }
  const auto seen = consumer.seen();
  EXPECT_EQ(seen.calls, 1) << seen.last_status;
  EXPECT_EQ(seen.given.size(), static_cast<std::size_t>(appended));
  EXPECT_EQ(seen.came_again, std::vector<std::uint64_t>{}) << "checkpointed, and came again";
  EXPECT_TRUE(std::is_sorted(seen.first_order.begin(), seen.first_order.end()));
  for (const auto& [revision, times] : seen.given) {
    const int asked_for = revision % 11 != 5 && revision % 5 == 3 ? 2 : 1;
    EXPECT_GE(times, asked_for) << revision;
    EXPECT_LE(times, asked_for + rounds) << revision;
  }
  std::optional<esps::SubscriptionInfo> info;
  ASSERT_TRUE(comes_true([&] { return (info = client.info(homed_stream, "g")).has_value(); }));
  int parked = 0;
  for (int revision = 0; revision < appended; ++revision) parked += revision % 11 == 5 ? 1 : 0;
  EXPECT_EQ(info->parked_message_count(), parked);
  consumer.stop();
  cluster_.stop_all();
}

}  // namespace
}  // namespace evershard::testing
