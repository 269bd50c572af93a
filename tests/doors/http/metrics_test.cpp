// What is counted, and what Prometheus and the live figures make of it.

#include <fstream>
#include <regex>
#include <set>
#include <thread>

#include "evershard/protocol/latencies.hpp"
#include "tests/actors/process/transfers.hpp"
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

/// One that has everything that a figure is of, and one that just began.
class TroubledProcesses final : public Processes {
 public:
  TroubledProcesses() {
    is.resize(2);
    is[0].name = "begun";
    is[0].head = GlobalPosition{9};
    is[1].name = "trips";
    is[1].head = GlobalPosition{9};
    is[1].state.position = GlobalPosition{2};
    is[1].running = true;
    is[1].state.stopped = true;
    is[1].state.stopped_instances = {"oslo", "rome"};
    is[1].state.figures = {.waiting = 11,
                           .failing = 12,
                           .reacted = 13,
                           .sent = 14,
                           .rejected = 15,
                           .performed = 16,
                           .given_up = 17,
                           .failed = 18,
                           .damaged = 19};
  }
  [[nodiscard]] Result<std::vector<ProcessInfo>> processes() override {
    if (trouble) return refuse(*trouble);
    return is;
  }
  [[nodiscard]] Result<ProcessInfo> process(const std::string&) override { return is[1]; }
  [[nodiscard]] Result<std::vector<ProcessInstance>> instances(const std::string&, const std::string&,
                                                               std::size_t) override {
    return std::vector<ProcessInstance>{};
  }
  [[nodiscard]] Result<std::vector<ParkedEffect>> parked_effects(const std::string&) override {
    return std::vector<ParkedEffect>{};
  }
  [[nodiscard]] Result<GlobalPosition> control(const std::string&, const ProcessControl&) override {
    return GlobalPosition{};
  }
  [[nodiscard]] Result<TimerPage> timers(const TimerListing&) override { return TimerPage{}; }
  [[nodiscard]] Result<void> cancel_timer(const AggregateId&, const std::string&) override { return {}; }
  std::vector<ProcessInfo> is;
  std::optional<Error> trouble;
};

/// A second door of the same store, which is a node of that cluster and shows those processes.
class DoorOfANode {
 public:
  DoorOfANode() {
    store.served->cluster = &cluster;
    store.served->processes = &processes;
    http::HttpOptions options;
    options.listen = "127.0.0.1:0";
    door = http::HttpDoor::start(*store.served, std::move(options)).value();
  }
  [[nodiscard]] std::string metrics() const { return ask(door->address(), "GET", "/metrics", {}, {}).body; }
  TroubledCluster cluster;
  TroubledProcesses processes;
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

TEST(HttpMetrics, SayHowProcessesAre) {
  DoorOfANode door;
  const auto text = door.metrics();
  for (const auto* line : {
           R"(evershard_process_lag{process="begun"} 9)",
           R"(evershard_process_lag{process="trips"} 7)",
           R"(evershard_process_waiting{process="trips"} 11)",
           R"(evershard_process_failing{process="trips"} 12)",
           R"(evershard_process_running{process="begun"} 0)",
           R"(evershard_process_running{process="trips"} 1)",
           R"(evershard_process_stopped{process="begun"} 0)",
           R"(evershard_process_stopped{process="trips"} 1)",
           R"(evershard_process_stopped_instances{process="trips"} 2)",
           R"(evershard_process_events_total{process="trips"} 13)",
           R"(evershard_process_commands_total{process="trips"} 14)",
           R"(evershard_process_commands_rejected_total{process="trips"} 15)",
           R"(evershard_process_effects_performed_total{process="trips"} 16)",
           R"(evershard_process_effects_given_up_total{process="trips"} 17)",
           R"(evershard_process_failed_total{process="trips"} 18)",
           R"(evershard_process_damaged_total{process="trips"} 19)",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }

  door.processes.trouble = Error{ErrorCode::unavailable, "a shard has no writer"};
  const auto without = door.metrics();
  EXPECT_THAT(without, HasSubstr("\nevershard_watermark "));
  EXPECT_THAT(without, testing::Not(HasSubstr("evershard_process_")));
}

TEST(HttpMetrics, SayWhatCouldNotBeRead) {
  RunningDoor door;
  ASSERT_TRUE(door.store.groups().create_group({.name = "mails"}));
  const auto text = door.get("/metrics").body;
  for (const auto* line :
       {R"(evershard_group_damaged_total{group="mails"} 0)", "\nevershard_retention_damaged_total 0\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(HttpMetrics, SayWhatWaitsForItsTime) {
  RunningDoor door;
  const auto none = door.get("/metrics").body;
  EXPECT_THAT(none, HasSubstr("\nevershard_scheduled_pending 0\n"));
  EXPECT_THAT(none, testing::Not(testing::AnyOf(HasSubstr("evershard_timers_"), HasSubstr("evershard_process_"))));

  ASSERT_TRUE(door.store.host<bank::Account>());
  ASSERT_EQ(door.ask("POST", "/api/v1/scheduled", R"({"after":"1h","append":{"events":[{"type":"A"}]}})").status, 200);
  std::string text;
  for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
       std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
    text = door.get("/metrics").body;
    if (text.find("\nevershard_scheduled_pending 1\n") != std::string::npos) break;
  }
  for (const auto* line : {
           "\nevershard_scheduled_pending 1\n",
           "\nevershard_scheduled_overdue 0\n",
           "\nevershard_scheduled_appended_total 0\n",
           "\nevershard_scheduled_refused_total 0\n",
           "\nevershard_scheduled_failed_total 0\n",
           "\nevershard_scheduled_damaged_total 0\n",
           "\nevershard_scheduled_late_seconds 0\n",
           "\nevershard_timers_pending 0\n",
           "\nevershard_timers_overdue 0\n",
           "\nevershard_timers_fired_total 0\n",
           "\nevershard_timers_rejected_total 0\n",
           "\nevershard_timers_overtaken_total 0\n",
           "\nevershard_timers_failed_total 0\n",
           "\nevershard_timers_damaged_total 0\n",
           "\nevershard_timers_late_seconds 0\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, testing::Not(testing::AnyOf(HasSubstr(R"(name="scheduled.)"), HasSubstr(R"(name="timers.)"))));
}

TEST(HttpMetrics, HaveANameInTheDocumentEach) {
  DoorOfANode door;
  ASSERT_TRUE(door.store.store.host<bank::Account>());
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
