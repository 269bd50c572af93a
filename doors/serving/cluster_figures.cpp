#include "evershard/doors/serving/cluster_figures.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace evershard::serving {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;
using Samples = std::vector<std::pair<std::string, double>>;

/// A value for each value of one label; without a label, of the whole. None: it is left out.
void put_family(std::vector<MetricFamily>& families, MetricType type, const char* name, const char* help,
                const char* label, const Samples& samples) {
  if (samples.empty()) return;
  auto& family = families.emplace_back(MetricFamily{name, help, type, {}});
  for (const auto& [of, value] : samples) {
    auto& metric = family.metric.emplace_back();
    if (label != nullptr) metric.label.push_back({label, of});
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  }
}

double seconds_of(std::uint64_t ms) { return static_cast<double>(ms) / 1e3; }

}  // namespace

std::vector<MetricFamily> ClusterFigures::Collect() const {
  std::vector<MetricFamily> families;
  const auto whole = [&](const char* name, const char* help, double value) {
    put_family(families, MetricType::Gauge, name, help, nullptr, {{"", value}});
  };
  whole("evershard_cluster_coordinator_up", "1: the coordinator answers this node.", status_.trouble.empty() ? 1 : 0);
  if (!status_.trouble.empty()) return families;

  whole("evershard_cluster_epoch", "Of the coordinator that leads: it grows with each one.",
        static_cast<double>(status_.coordinator.value));
  const auto shards = [&](const auto& which) {
    return static_cast<double>(std::ranges::count_if(status_.shards, which));
  };
  using Shard = ClusterStatus::Shard;
  whole("evershard_cluster_shards_without_writer", "Shards that nobody writes.",
        shards([](const Shard& shard) { return !shard.open; }));
  whole("evershard_cluster_shards_without_quorum", "Shards of which too few replicas are up: appends to them wait.",
        shards([](const Shard& shard) { return shard.without_quorum; }));

  const auto of_nodes = [&](const char* name, const char* help, const auto& value) {
    Samples samples;
    for (const auto& node : status_.nodes)
      if (const std::optional<double> is = value(node)) samples.emplace_back(std::to_string(node.is.node), *is);
    put_family(families, MetricType::Gauge, name, help, "node", samples);
  };
  using Node = ClusterStatus::Node;
  using Value = std::optional<double>;
  of_nodes("evershard_cluster_node_up", "1: the node is up.", [](const Node& node) -> Value { return node.is.up; });
  of_nodes("evershard_cluster_node_disk_full", "1: the node's disk is full, and it takes nothing.",
           [](const Node& node) -> Value { return node.full; });
  of_nodes("evershard_cluster_node_writes", "Shards that the node writes.",
           [](const Node& node) -> Value { return node.shards; });
  of_nodes("evershard_cluster_node_replicas", "Shards that the node keeps, where shards have replicas.",
           [](const Node& node) -> Value { return node.replicas; });
  of_nodes("evershard_cluster_node_behind_events", "Events that have positions and that the node has not applied.",
           [](const Node& node) -> Value { return static_cast<double>(node.behind_events); });
  of_nodes("evershard_cluster_node_behind_seconds", "Since the first of those events got its position.",
           [](const Node& node) -> Value { return seconds_of(node.behind_ms); });
  of_nodes("evershard_cluster_node_learns", "Shards that the node is to keep, and is being given.",
           [](const Node& node) -> Value { return node.learns; });
  of_nodes("evershard_cluster_node_learn_events", "Events that those shards have.", [](const Node& node) -> Value {
    return node.learns == 0 ? Value() : static_cast<double>(node.learn_events);
  });
  of_nodes("evershard_cluster_node_learned_events", "So many of them the node has.", [](const Node& node) -> Value {
    return node.learns == 0 ? Value() : static_cast<double>(node.learned_events);
  });
  of_nodes("evershard_cluster_node_learn_left_seconds", "How long it still takes, as fast as lately.",
           [](const Node& node) { return node.learn_left_ms ? Value(seconds_of(*node.learn_left_ms)) : Value(); });
  of_nodes("evershard_cluster_node_clock_ahead_seconds",
           "How far the node's clock is ahead of the coordinator's; below 0: behind it.", [](const Node& node) {
             return node.clock_ahead_ms ? Value(static_cast<double>(*node.clock_ahead_ms) / 1e3) : Value();
           });

  Samples changes, without;
  for (const auto& count : status_.counts) {
    changes.emplace_back(name_of(count.cause), static_cast<double>(count.changes));
    without.emplace_back(name_of(count.cause), seconds_of(count.without_writer_ms));
  }
  put_family(families, MetricType::Counter, "evershard_cluster_changes_total",
             "What happened to who writes and keeps shards, by cause, since the coordinator leads.", "cause", changes);
  put_family(families, MetricType::Counter, "evershard_cluster_without_writer_seconds_total",
             "How long the shards of those changes had no writer, of each change the longest.", "cause", without);
  return families;
}

}  // namespace evershard::serving
