// A shard that goes to another node takes its aggregates with it: what lived here ends, and is asked there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <memory>

#include "evershard/cluster/aggregates/cluster_aggregates.hpp"
#include "evershard/cluster/peers/aggregate_messages.hpp"
#include "tests/actors/aggregate/small_bank.hpp"
#include "tests/cluster/node/small_cluster.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using namespace small;
using MovedBank = BankOf<1, 10>;

constexpr auto moved_patience = 60s;

/// From one node's aggregates to another's, as bytes.
class AsksInProcess final : public AggregateNetwork {
 public:
  void ask(std::uint32_t node, AggregateAsked asked, AggregateDone done) override {
    carriers_.run([this, node, bytes = encode(asked), done = std::move(done)] {
      there.at(node)->answer(decode_aggregate_asked(bytes).value(), [done](const AggregateAnswered& answered) {
        done(decode_aggregate_answered(encode(answered)).value());
      });
    });
  }
  std::map<std::uint32_t, ClusterAggregates*> there;

 private:
  WorkPool carriers_{2};
};

class MovedShard : public ::testing::Test {
 protected:
  MovedShard() {
    for (std::uint32_t n = 1; n <= 2; ++n) {
      ClusterAggregatesOptions options;
      options.node = n;
      aggregates_[n] = std::make_unique<ClusterAggregates>(cluster_.node(n), network_, options);
      network_.there[n] = aggregates_[n].get();
      EXPECT_TRUE(aggregates_[n]->host<MovedBank>());
    }
    EXPECT_TRUE(cluster_.wait_until_open());
  }
  ~MovedShard() override {
    for (auto& [n, aggregates] : aggregates_) aggregates->stop();
  }

  ClusterAggregates& on(std::uint32_t node) { return *aggregates_[node]; }
  std::uint32_t owner(const AggregateId& id) {
    return cluster_.node(1).committer().owner(cluster_.node(1).shard_of(id));
  }

  SmallCluster cluster_{{.nodes = 2, .shards = 4}};
  std::map<std::uint32_t, std::unique_ptr<ClusterAggregates>> aggregates_;
  AsksInProcess network_;  ///< first to go: what is on its way is still told
};

TEST_F(MovedShard, EndsItsAggregatesHereAndIsAskedThere) {
  int n = 0;
  while (owner({"account", std::to_string(n)}) != 1) ++n;
  const auto name = std::to_string(n);
  const AggregateId id{"account", name};
  const auto other_shard = [&] {  // of the same node: it stays
    for (int i = 0;; ++i) {
      const AggregateId other{"account", "other-" + std::to_string(i)};
      if (owner(other) == 1 && cluster_.node(1).shard_of(other) != cluster_.node(1).shard_of(id)) return other.value;
    }
  }();
  EXPECT_TRUE(on(2).get<MovedBank>(name).ask(Look{}, {.timeout = moved_patience}));
  EXPECT_TRUE(on(2).get<MovedBank>(other_shard).ask(Deposit{5}, {.timeout = moved_patience}));
  EXPECT_EQ(on(1).figures().live, 2u);

  cluster_.move(cluster_.node(1).shard_of(id), 2);

  const auto there = on(1).get<MovedBank>(name).ask(Deposit{7}, {.command_id = "a", .timeout = moved_patience});
  ASSERT_TRUE(there) << there.error().what;
  EXPECT_EQ(there->n, 7);
  EXPECT_EQ(on(2).get<MovedBank>(name).ask(Look{}, {.timeout = moved_patience})->n, 7);
  EXPECT_EQ(on(2).figures().live, 1u);
  const auto until = std::chrono::steady_clock::now() + moved_patience;
  while (on(1).figures().known != 1 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(on(1).figures().known, 1u) << "the one of the shard that stayed";
  EXPECT_EQ(on(1).get<MovedBank>(other_shard).ask(Look{}, {.timeout = moved_patience})->n, 5);
}

// What is written and has no place yet may still come: an aggregate that was loaded without it would answer, and
// reject, on what never was.
TEST_F(MovedShard, LoadsAnAggregateWhenWhatIsWrittenToItHasItsPlace) {
  int n = 0;
  while (owner({"account", std::to_string(n)}) != 1) ++n;
  const auto name = std::to_string(n);
  auto& committer = cluster_.node(1).committer();
  committer.disconnected();
  auto outside = from_outside(name, "deposited", "5");
  outside.ack = Ack::durable;
  const auto written = cluster_.node(1).append(outside);
  ASSERT_TRUE(written) << written.error().what;

  auto answer = on(1).get<MovedBank>(name).ask_future(Withdraw{5}, {.timeout = moved_patience});
  EXPECT_EQ(answer.wait_for(300ms), std::future_status::timeout);
  committer.connected();

  const auto told = answer.get();
  ASSERT_TRUE(told) << (told.rejected() ? "rejected: " + told.rejection() : told.error().what);
  EXPECT_EQ(told->n, 0);
}

// Ahead of the store: what was decided on top of an append that somebody else's took the place of is refused, whatever
// version is there.
TEST_F(MovedShard, AnAppendFollowsOneOfItsOwnWriter) {
  int n = 0;
  while (owner({"account", std::to_string(n)}) != 1) ++n;
  const AggregateId id{"account", std::to_string(n)};
  const auto appended = [&](std::uint64_t expected, AppendChain chain) {
    std::promise<Result<Appended>> promise;
    cluster_.node(1).committer().append_async(
        from_outside(id.value, "deposited", "1").expect(id, ExpectedVersion::exactly(SeqNr{expected})), chain,
        [&](Result<Appended> result) { promise.set_value(std::move(result)); });
    return promise.get_future().get();
  };
  ASSERT_TRUE(cluster_.node(1).append(from_outside(id.value, "deposited", "1")));
  const auto refused = appended(1, {7, true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::version_conflict);
  EXPECT_TRUE(appended(1, {7, false}));
  EXPECT_TRUE(appended(2, {7, true}));
}

// Whoever was told of the old owner is told so, and nothing is done there.
TEST_F(MovedShard, RefusesWhatIsAskedOfTheWrongNode) {
  int n = 0;
  while (owner({"account", std::to_string(n)}) != 1) ++n;
  std::promise<AggregateAnswered> promise;
  AggregateAsked asked;
  asked.aggregate = {"account", std::to_string(n)};
  asked.command_type = "deposit";
  asked.command = "5";
  asked.time = 10s;
  on(2).answer(asked, [&](AggregateAnswered answered) { promise.set_value(std::move(answered)); });
  EXPECT_EQ(promise.get_future().get().answer.error.code, ErrorCode::wrong_shard);
  EXPECT_EQ(on(2).figures().known, 0u);
}

}  // namespace
}  // namespace evershard::cluster
