// Keys of subjects on a cluster of processes: a node that was frozen over an erasure opens nothing by the key that is
// gone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "evershard/protocol/retention_events.hpp"
#include "evershard/sharding/route.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_processes.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;

constexpr std::string_view secret_street = "St James's Square";

std::uint32_t owner_of_the_log(ClusterProcesses& cluster, Remote& asked) {
  const AggregateId log{std::string(retention::log_type), std::string(retention::log_value)};
  const auto status = asked.cluster_status();
  EXPECT_TRUE(status) << status.error().what;
  return status ? status->shards.at(sharding::shard_of(sharding::stream_hash(log), cluster.shards()).value).node : 1;
}

/// One event of hers in each shard. Returns: their positions.
std::vector<GlobalPosition> append_hers(ClusterProcesses& cluster, Remote& at) {
  std::vector<GlobalPosition> hers;
  for (std::uint32_t shard = 0; shard != cluster.shards(); ++shard) {
    Event event;
    event.aggregate = AggregateId::parse(cluster.aggregate_in(shard)).value();
    event.type = "Placed";
    event.payload = secret_street;
    event.format = PayloadFormat::text;
    event.subject = "ada";
    const auto done = at.append(Append{}.event(event));
    EXPECT_TRUE(done) << done.error().what;
    if (done) hers.push_back(done->last_position);
  }
  return hers;
}

TEST(ClusterKeys, AFrozenNodeOpensNothingByAKeyThatIsGone) {
  const TemporaryFolder folder, keys;
  std::filesystem::permissions(keys.path(), std::filesystem::perms::owner_all);
  ClusterProcesses::Options options;
  options.nodes = 2;
  options.relays = true;
  options.flags = [&](std::uint32_t number) {
    return number == ClusterProcesses::coordinator
               ? std::map<std::string, std::string>{{"--keys", keys.path().string()}}
               : std::map<std::string, std::string>{};
  };
  ClusterProcesses cluster(folder.path(), options);
  auto first = cluster.connect(1);
  // The order goes into the log: who has it is not the one that is away.
  const auto asked = owner_of_the_log(cluster, first);
  const auto frozen = 3 - asked;
  auto store = cluster.connect(asked), other = cluster.connect(frozen);
  const auto hers = append_hers(cluster, store);
  ASSERT_EQ(hers.size(), cluster.shards());
  ASSERT_TRUE(other.wait_for(hers.back(), 60s));
  for (const auto position : hers)
    ASSERT_EQ(other.event_at(position).value().payload, secret_street) << "it was lent the key";

  // Nor does it find, when it goes on, that somebody told it to forget the key.
  cluster.signal(frozen, SIGSTOP);
  cluster.relay_to_coordinator(frozen).block();
  const auto erased = store.retention().erase_subject("ada", {});
  cluster.signal(frozen, SIGCONT);

  ASSERT_FALSE(erased) << "a node that is frozen has its part to do";
  EXPECT_THAT(erased.error().code, AnyOf(ErrorCode::unavailable, ErrorCode::timeout)) << erased.error().what;
  const auto log = store.retention().retention_log(SeqNr{0}, 100);
  ASSERT_TRUE(log) << log.error().what;
  ASSERT_EQ(log->back().what, "$ErasureOrdered")
      << "it was refused before anything was erased: " << erased.error().what;
  for (const auto position : hers) {
    // The other one's it may have, taken out there already.
    const auto event = cluster.connect(frozen, 2s).event_at(position);
    EXPECT_TRUE(!event || event->state == EventState::erased)
        << "what it was lent is over, and the coordinator is away";
  }
  cluster.relay_to_coordinator(frozen).let_through();
  std::size_t seen = 0;
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       seen < 3 * hers.size() && std::chrono::steady_clock::now() < until;) {
    auto reader = cluster.connect(frozen, 2s);
    for (const auto position : hers) {
      const auto event = reader.event_at(position);
      if (!event) continue;  // it is not linked to the others yet
      ASSERT_EQ(event->state, EventState::erased);
      ASSERT_EQ(event->payload, "");
      ++seen;
    }
  }
  EXPECT_GE(seen, 3 * hers.size());
  EXPECT_TRUE(cluster.wait_until_whole());
  // What was left is done by the next one.
  auto again = store.retention().erase_subject("ada", {});
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       (again || again.error().code != ErrorCode::not_found) && std::chrono::steady_clock::now() < until;)
    again = store.retention().erase_subject("ada", {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::not_found) << again.error().what;
  const auto done = store.retention().retention_log(SeqNr{0}, 100);
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->back().what, "$ErasureDone");
}

}  // namespace
}  // namespace evershard::testing
