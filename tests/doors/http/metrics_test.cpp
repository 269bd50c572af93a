// What is counted, and what Prometheus and the live figures make of it.

#include <fstream>
#include <regex>
#include <set>

#include "evershard/protocol/latencies.hpp"
#include "tests/doors/http/running_door.hpp"

namespace evershard {
namespace {

using std::chrono::microseconds;
using testing::HasSubstr;

TEST(Latencies, PutsEveryTimeIntoTheBucketItBelongsTo) {
  for (std::uint64_t micros = 0; micros < 40'000'000; micros += 1 + micros / 37) {
    const auto bucket = Latencies::bucket_of(micros);
    ASSERT_LT(bucket, Latencies::buckets);
    ASSERT_TRUE(bucket + 1 == Latencies::buckets || micros < Latencies::end_of(bucket)) << micros;
    ASSERT_TRUE(bucket == 0 || micros >= Latencies::end_of(bucket - 1)) << micros;
  }
}

TEST(Latencies, GivesPercentilesOfWhatCameSince) {
  LatencyCounter counter;
  for (int i = 0; i < 1'000; ++i) counter.add(microseconds(50'000));
  const auto before = counter.read();
  EXPECT_FALSE(counter.read().since(before).percentile(50));
  for (int i = 0; i < 99; ++i) counter.add(microseconds(100));
  counter.add(microseconds(9'000));

  const auto since = counter.read().since(before);
  EXPECT_EQ(since.count(), 100u);
  EXPECT_EQ(since.micros_sum, 99u * 100 + 9'000);
  EXPECT_GE(*since.percentile(50), 100u);
  EXPECT_LE(*since.percentile(50), 125u);
  EXPECT_LE(*since.percentile(99), 125u);
  EXPECT_GE(*since.percentile(100), 9'000u);
}

TEST(HttpMetrics, CountByDoorMethodAndOutcome) {
  RunningDoor door;
  ASSERT_EQ(
      door.ask("POST", "/api/v1/append", R"({"events":[{"type":"A","tags":["a"]},{"type":"A","tags":["a"]}]})").status,
      200);
  ASSERT_EQ(door.ask("POST", "/api/v1/append",
                     R"({"events":[{"aggregate":"a-1","type":"A"}],"expect":[{"aggregate":"a-1","version":3}]})")
                .status,
            409);
  ASSERT_EQ(door.get("/api/v1/nothing").status, 404);
  ASSERT_EQ(door.get("/api/v1/events").status, 200);

  const auto answer = door.get("/metrics");
  EXPECT_THAT(answer.header("content-type"), HasSubstr("text/plain; version=0.0.4"));
  const auto& text = answer.body;
  for (const auto* line : {
           R"(evershard_requests_total{door="http",method="POST /api/v1/append",outcome="ok"} 1)",
           R"(evershard_requests_total{door="http",method="POST /api/v1/append",outcome="version_conflict"} 1)",
           R"(evershard_requests_total{door="http",method="none",outcome="not_found"} 1)",
           R"(evershard_appends_refused_total{reason="version_conflict"} 1)",
           R"(evershard_append_events_sum{door="http"} 2)",
           R"(evershard_events_read_total{door="http"} 2)",
           R"(evershard_connections{door="http"})",
           "\nevershard_watermark 2\n",
           "\nevershard_events_total 2\n",
           "\nevershard_appends_total 1\n",
           "\nevershard_commit_seconds_count 1\n",
           "\nevershard_long_reads 0\n",
           "\nevershard_long_reads_waiting 0\n",
           "\nevershard_long_reads_total 0\n",
           "\nevershard_long_reads_refused_total 0\n",
           R"(evershard_memory_part_bytes{part="tails"})",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

/// A cluster in which everything is the case that a figure is of.
class TroubledCluster final : public ClusterAdministration {
 public:
  TroubledCluster() {
    is.coordinator = Epoch{4};
    is.nodes.push_back({{1, "a:1", "a:2", true, Timestamp{}, "1.2", false}, 2, CutNumber{31}, 0, 0});
    is.nodes.push_back({{2, "b:1", "b:2", false, Timestamp{}, "1.3", false}, 1, CutNumber{29}, 2, 0, 40, 1'500});
    auto& node = is.nodes.front();
    node.replicas = 3;
    node.learns = 1;
    node.learn_events = 200;
    node.learned_events = 50;
    node.learn_left_ms = 2'500;
    node.clock_ahead_ms = -1'250;
    is.shards.resize(3);
    is.shards[0].open = is.shards[1].open = true;
    is.shards[1].without_quorum = true;
    is.counts = {{ClusterChange::Cause::leads, 1, 0}, {ClusterChange::Cause::node_silent, 3, 4'500}};
  }
  [[nodiscard]] Result<ClusterStatus> status() override { return is; }
  [[nodiscard]] Result<ShardsAssigned> assign(const ShardAssignment&) override { return ShardsAssigned{}; }
  [[nodiscard]] Result<void> copy_part(const PartWanted&, PartTaker&, const Progress&) override { return {}; }
  [[nodiscard]] ClusterView view() const override { return {}; }
  ClusterStatus is;
};

/// A second door of the same store, which is a node of that cluster.
class DoorOfANode {
 public:
  DoorOfANode() {
    store.served->cluster = &cluster;
    http::HttpOptions options;
    options.listen = "127.0.0.1:0";
    door = http::HttpDoor::start(*store.served, std::move(options)).value();
  }
  [[nodiscard]] std::string metrics() const { return ask(door->address(), "GET", "/metrics", {}, {}).body; }
  TroubledCluster cluster;
  RunningDoor store;
  std::unique_ptr<http::HttpDoor> door;
};

TEST(HttpMetrics, SayHowTheClusterIs) {
  DoorOfANode door;
  const auto text = door.metrics();
  for (const auto* line : {
           "\nevershard_cluster_coordinator_up 1\n",
           "\nevershard_cluster_epoch 4\n",
           "\nevershard_cluster_shards_without_writer 1\n",
           "\nevershard_cluster_shards_without_quorum 1\n",
           R"(evershard_cluster_node_up{node="1"} 1)",
           R"(evershard_cluster_node_up{node="2"} 0)",
           R"(evershard_cluster_node_writes{node="1"} 2)",
           R"(evershard_cluster_node_replicas{node="1"} 3)",
           R"(evershard_cluster_node_behind_events{node="2"} 40)",
           R"(evershard_cluster_node_behind_seconds{node="2"} 1.5)",
           R"(evershard_cluster_node_learned_events{node="1"} 50)",
           R"(evershard_cluster_node_learn_left_seconds{node="1"} 2.5)",
           R"(evershard_cluster_node_clock_ahead_seconds{node="1"} -1.25)",
           R"(evershard_cluster_changes_total{cause="node_silent"} 3)",
           R"(evershard_cluster_without_writer_seconds_total{cause="node_silent"} 4.5)",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }

  door.cluster.is.trouble = "it does not answer";
  const auto without = door.metrics();
  EXPECT_THAT(without, HasSubstr("\nevershard_cluster_coordinator_up 0\n"));
  EXPECT_THAT(without, testing::Not(HasSubstr("evershard_cluster_node")));
}

TEST(HttpMetrics, HaveANameInTheDocumentEach) {
  DoorOfANode door;
  append_one(door.store.store, "a-1", "A");
  std::ifstream file(EVERSHARD_SOURCE "/docs/metrics.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  const auto text = door.metrics();
  const std::regex help("# TYPE ([a-z0-9_]+) ");
  std::size_t names = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), help), end; at != end; ++at, ++names) {
    EXPECT_THAT(document, HasSubstr('`' + (*at)[1].str() + '`'));
  }
  EXPECT_GE(names, 15u);
}

}  // namespace
}  // namespace evershard
