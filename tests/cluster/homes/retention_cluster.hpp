// ClusterRetentionTest: three nodes on disk in this process, each with its retention.

#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "evershard/cluster/removal/cluster_retention.hpp"
#include "evershard/storage/repair/verify.hpp"
#include "tests/cluster/homes/homes_in_process.hpp"
#include "tests/cluster/node/small_cluster.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::cluster {

using namespace std::chrono_literals;

inline constexpr auto retention_patience = 60s;

/// Three nodes, on disk.
class ClusterRetentionTest : public ::testing::Test {
 protected:
  explicit ClusterRetentionTest(const Limits& limits = {}, std::uint32_t replicas = 1, std::uint32_t spares = 0)
      : cluster_(std::make_unique<SmallCluster>(SmallCluster::Options{.nodes = 3,
                                                                      .spares = spares,
                                                                      .shards = 6,
                                                                      .replicas = replicas,
                                                                      .data_dir = folder_.path() / "nodes",
                                                                      .timeout = 30s,
                                                                      .limits = limits})) {
    for (std::uint32_t n = 1; n <= 3; ++n) join(n);
    EXPECT_TRUE(cluster_->wait_until_open());
  }
  ~ClusterRetentionTest() override {
    for (std::uint32_t n = 1; n <= 3; ++n) leave(n);
  }
  void join(std::uint32_t n) {
    auto& part = parts_[n];
    part.homes = std::make_shared<HomeCalls>(cluster_->node(n), network_, HomeCallsOptions{.node = n, .threads = 4});
    NodeRetentionOptions options;
    options.touched = [this](const AggregateId& aggregate) {
      const std::lock_guard lock(mutex_);
      touched_.insert(aggregate.text());
    };
    options.at_step = [this](const char* step) {
      std::function<void(std::string_view)> at_step;
      {
        const std::lock_guard lock(mutex_);
        at_step = at_step_;
      }
      if (at_step) at_step(step);
    };
    options.settle_every = 20ms;
    part.retention = std::make_unique<ClusterRetention>(cluster_->node(n), cluster_->store(n), *part.homes, options);
    network_.put(n, part.homes);
  }
  void leave(std::uint32_t n) {
    network_.put(n, nullptr);
    auto& part = parts_[n];
    if (part.homes) part.homes->stop();
    if (part.retention) part.retention->close();
    part = {};
  }
  void stop(std::uint32_t n) {
    leave(n);
    cluster_->stop(n);
  }
  void start(std::uint32_t n) {
    cluster_->start(n);
    join(n);
  }
  /// One of the work's steps does not end: as if the process had died there, but for what was written by then.
  void break_off_at(std::string step) {
    const std::lock_guard lock(mutex_);
    at_step_ = [step = std::move(step), once = std::make_shared<std::atomic<bool>>(false)](std::string_view at) {
      if (at == step && !once->exchange(true)) throw std::runtime_error("broken off at " + step);
    };
  }
  void at_steps(std::function<void(std::string_view)> hook) {
    const std::lock_guard lock(mutex_);
    at_step_ = std::move(hook);
  }

  ClusterRetention& at(std::uint32_t n) { return *parts_.at(n).retention; }
  ClusterNode& node(std::uint32_t n) { return cluster_->node(n); }
  std::uint32_t owner_of(const AggregateId& aggregate) {
    return node(1).committer().owner(node(1).shard_of(aggregate));
  }
  std::uint32_t owner_of_at(std::uint32_t by, const AggregateId& aggregate) {
    return node(by).committer().owner(node(by).shard_of(aggregate));
  }
  std::uint32_t other_than(std::uint32_t n) { return n % 3 + 1; }
  AggregateId owned_by(std::uint32_t n, const std::string& type = "order") {
    for (;; ++names_)
      if (AggregateId id{type, std::to_string(names_)}; owner_of(id) == n) return ++names_, id;
  }
  GlobalPosition append(std::uint32_t by, const AggregateId& aggregate, const std::string& type = "Placed",
                        std::chrono::seconds age = 0s) {
    Event event;
    event.id = EventId::random();  // tried again where the outcome is unknown: then it is known
    event.aggregate = aggregate;
    event.type = type;
    event.payload = std::string(200, 'x');
    event.tags = {Tag{"customer:7"}};
    event.occurred_at = Timestamp{Timestamp::now().micros - std::chrono::microseconds(age).count()};
    for (const auto until = std::chrono::steady_clock::now() + retention_patience;;) {
      auto done = node(by).append(Append{}.event(event));
      if (done) return last_ = std::max(last_, done->last_position), done->last_position;
      if (std::chrono::steady_clock::now() > until) return ADD_FAILURE() << done.error().what, GlobalPosition{0};
      std::this_thread::sleep_for(10ms);
    }
  }
  void append_some(const AggregateId& aggregate, int count, std::chrono::seconds age = 0s) {
    for (int i = 0; i < count; ++i) append(static_cast<std::uint32_t>(i % 3 + 1), aggregate, "Placed", age);
  }
  void snapshot(const AggregateId& aggregate, std::uint64_t version) {
    Snapshot snapshot;
    snapshot.aggregate = aggregate;
    snapshot.version = SeqNr{version};
    snapshot.payload = "state";
    const auto put = node(owner_of(aggregate)).put_snapshot(snapshot);
    EXPECT_TRUE(put) << put.error().what;
  }
  /// Of a node that was started with an empty disk, once it has what there is; then events are read at it, too.
  GlobalPosition head_of(std::uint32_t n) {
    Result<GlobalPosition> head = refuse(ErrorCode::unavailable, "not asked");
    EXPECT_TRUE(in_time([&] { return (head = node(n).head()).has_value(); })) << n;
    return head ? *head : GlobalPosition{0};
  }
  /// `r` removed, `l` live, in order of seq_nr, as this node sees it.
  std::string states_at(std::uint32_t by, const AggregateId& aggregate) {
    std::string states;
    std::uint64_t next = 1;
    for (std::uint32_t n = 1; n <= 3; ++n) {
      if (!parts_.at(n).homes) continue;
      EXPECT_TRUE(node(by).wait_for(head_of(n), retention_patience));
    }
    auto stream = node(by).read(aggregate);
    for (const auto& event : stream) {
      EXPECT_EQ(event.seq_nr, SeqNr{next++});
      if (event.state == EventState::removed) {
        EXPECT_EQ(event.type + event.payload, "");
      }
      states += event.state == EventState::removed ? 'r' : 'l';
    }
    EXPECT_FALSE(stream.error()) << stream.error()->what;
    return states;
  }
  std::string states_of(const AggregateId& aggregate) {
    const auto states = states_at(1, aggregate);
    for (std::uint32_t n = 2; n <= 3; ++n) EXPECT_EQ(states_at(n, aggregate), states) << n;
    return states;
  }
  std::vector<std::string> log_at(std::uint32_t by) {
    std::vector<std::string> words;
    const auto log = at(by).retention_log(SeqNr{0}, 1'000);
    EXPECT_TRUE(log) << log.error().what;
    if (log)
      for (const auto& entry : *log) words.push_back(entry.what);
    return words;
  }
  /// As the log stands, whichever node has heard of it.
  std::vector<std::string> log() {
    std::vector<std::string> longest;
    for (std::uint32_t n = 1; n <= 3; ++n)
      if (auto words = log_at(n); words.size() > longest.size()) longest = std::move(words);
    return longest;
  }
  std::vector<std::string> listed_at(std::uint32_t by, const std::string& type = "order") {
    std::vector<std::string> names;
    const auto all = node(by).aggregates(type, {}, 1'000);
    EXPECT_TRUE(all) << all.error().what;
    if (all)
      for (const auto& info : *all) names.push_back(info.aggregate.text());
    return names;
  }
  template <class T>
  static std::string code(const Result<T>& result) {
    return result ? "ok" : std::string(name_of(result.error().code));
  }
  template <class Check>
  [[nodiscard]] bool in_time(Check check) {
    for (const auto until = std::chrono::steady_clock::now() + retention_patience;
         std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(10ms))
      if (check()) return true;
    return false;
  }
  void expect_sound() {
    for (std::uint32_t n = 1; n <= 3; ++n) {
      const auto report = storage::verify(cluster_->store(n), {});
      ASSERT_TRUE(report) << report.error().what;
      EXPECT_EQ(report->errors, 0u) << (report->findings.empty() ? "" : report->findings.front());
    }
  }
  static TruncateOptions uncovered() {
    TruncateOptions options;
    options.uncovered = true;
    return options;
  }
  static RetentionPolicy policy(std::string name, RetentionPolicy::Kind kind, std::string type) {
    return {std::move(name), kind, std::move(type), 3600s, false};
  }

  TemporaryFolder folder_;
  std::uint64_t names_ = 1;
  GlobalPosition last_;
  std::unique_ptr<SmallCluster> cluster_;
  HomesInProcess network_;
  std::mutex mutex_;
  std::set<std::string> touched_;
  std::function<void(std::string_view)> at_step_;
  struct Part {
    std::shared_ptr<HomeCalls> homes;
    std::unique_ptr<ClusterRetention> retention;
  };
  std::map<std::uint32_t, Part> parts_;
};

}  // namespace evershard::cluster
