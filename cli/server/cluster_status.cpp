// `evershard cluster status`: a cluster's nodes, sets and shards, and how far each is behind; `cluster log`: what
// happened to them.

#include <algorithm>
#include <cstdlib>

#include "evershard/api/json/cluster_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/server/cluster_flags.hpp"
#include "evershard/cli/store/store_info.hpp"

namespace evershard::cli {
namespace {

void print_lines(const Invocation& invocation, const ClusterStatus& status) {
  JsonText json;
  ListPrinter list(invocation, {});
  const auto line = [&](const auto& write) {
    json.clear();
    write();
    list.json(json.take());
  };
  line([&] { write_cluster(json, status); });
  for (const auto& node : status.nodes) line([&] { write_cluster_node(json, status, node); });
  for (std::size_t s = 0; s != status.shards.size(); ++s) line([&] { write_cluster_shard(json, status, s); });
  if (status.trouble.empty())
    for (const auto& set : status.sets()) line([&] { write_cluster_set(json, status, set); });
  list.finish();
}

std::string number_or_dash(bool known, std::uint64_t number) { return known ? grouped(number) : "-"; }

std::string shards_text(const std::vector<ShardId>& shards) {
  std::string text;
  for (std::size_t s = 0; s != shards.size(); ++s) {
    std::size_t last = s;
    while (last + 1 != shards.size() && shards[last + 1].value == shards[last].value + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(shards[s].value);
    if (last != s) text += (last == s + 1 ? "," : "-") + std::to_string(shards[last].value);
    s = last;
  }
  return text;
}

std::string lag_of(const ClusterStatus::Node& node) {
  if (!node.is.up) return std::to_string(node.is.node) + " (down, " + grouped(node.behind_events) + " events)";
  if (node.behind_events == 0 && node.behind_ms == 0) return std::to_string(node.is.node);
  return std::to_string(node.is.node) + " (" + grouped(node.behind_events) + " events, " + grouped(node.behind_ms) +
         " ms)";
}

/// Of a cluster with replicas: who keeps shards together, and how far those who follow are.
void write_sets(const Invocation& invocation, const ClusterStatus& status) {
  const auto sets = status.trouble.empty() ? status.sets() : std::vector<ClusterStatus::Set>{};
  if (sets.empty()) return;
  invocation.out.write("\n");
  Table table(invocation.out, invocation.terminal,
              {{"SET"}, {"SHARDS", true}, {"LEADERS"}, {"FOLLOWERS, BEHIND BY"}, {"QUORUM"}});
  for (const auto& set : sets) {
    std::string nodes, leaders, followers;
    for (const auto node : set.nodes) nodes += (nodes.empty() ? "" : " ") + std::to_string(node);
    for (const auto node : set.learners) nodes += " +" + std::to_string(node);
    for (const auto node : set.leaders) leaders += (leaders.empty() ? "" : " ") + std::to_string(node);
    for (const auto& node : status.nodes) {
      if (!std::ranges::binary_search(set.nodes, node.is.node)) continue;
      // Of several that write some of the shards each follows the others.
      if (set.leaders == std::vector{node.is.node}) continue;
      followers += (followers.empty() ? "" : ", ") + lag_of(node);
    }
    table.row({nodes, std::to_string(set.shards.size()), leaders.empty() ? "-" : leaders, followers,
               std::to_string(set.up) + " of " + std::to_string(set.nodes.size()) + " up, " +
                   std::to_string(set.quorum) + " needed" + (set.trouble.empty() ? "" : ": NO QUORUM")});
  }
}

/// What somebody should know, or do; a sentence each.
void write_notes(const Invocation& invocation, const ClusterStatus& status) {
  std::vector<std::string> notes;
  for (const auto& set : status.trouble.empty() ? status.sets() : std::vector<ClusterStatus::Set>{})
    if (!set.trouble.empty())
      notes.push_back((set.shards.size() == 1 ? "shard " : "shards ") + shards_text(set.shards) +
                      (set.shards.size() == 1 ? " has" : " have") + " no quorum: " + set.trouble);
  for (const auto& node : status.nodes) {
    const auto name = "node " + std::to_string(node.is.node);
    if (node.learns != 0)
      notes.push_back(
          name + " is given " + std::to_string(node.learns) + " shards: " + grouped(node.learned_events) + " of " +
          grouped(node.learn_events) + " events" +
          (node.learn_left_ms ? ", about " + grouped((*node.learn_left_ms + 999) / 1'000) + " s left" : ""));
    if (node.clock_differs && node.clock_ahead_ms)
      notes.push_back("the clock of " + name + " is " +
                      grouped(static_cast<std::uint64_t>(std::abs(*node.clock_ahead_ms))) + " ms " +
                      (*node.clock_ahead_ms > 0 ? "ahead of" : "behind") +
                      " the coordinator's: let both machines take their time from the same servers (NTP)");
  }
  if (notes.empty()) return;
  invocation.out.write("\n");
  for (const auto& note : notes) invocation.out.write(note + '\n');
}

void print_for_people(const Invocation& invocation, const ClusterStatus& status) {
  const bool known = status.trouble.empty();
  const JsonText none;
  Parts parts;
  if (status.self != 0)
    parts.emplace_back("asked at", "node " + std::to_string(status.self) + ", which has applied position " +
                                       grouped(status.applied.value));
  if (known) {
    parts.emplace_back("coordinator", "epoch " + grouped(status.coordinator.value) + ", last cut " +
                                          grouped(status.last_cut.value) + ", " + grouped(status.cuts_per_second) +
                                          " cuts/s");
    parts.emplace_back("watermark", grouped(status.watermark.value));
  } else {
    parts.emplace_back("coordinator", "cannot be asked: " + status.trouble);
    parts.emplace_back("", "below is what the node remembers");
  }
  print_one(invocation, none, parts);
  invocation.out.write("\n");
  {
    Table nodes(invocation.out, invocation.terminal,
                {{"NODE", true},
                 {"STATE"},
                 {"SINCE"},
                 {"DOOR"},
                 {"SHARDS", true},
                 {"CUTS BEHIND", true},
                 {"EVENTS", true},
                 {"MS", true},
                 {"VERSION"},
                 {"PEERS"}});
    for (const auto& node : status.nodes) {
      nodes.row({std::to_string(node.is.node), node.is.up ? (node.full ? "disk full" : "up") : "down",
                 node.is.since == Timestamp{} ? "-" : node.is.since.text().substr(0, 19) + 'Z', node.is.door,
                 node.is.gateway && node.shards == 0 ? "gateway" : std::to_string(node.shards),
                 number_or_dash(known, node.behind), number_or_dash(known, node.behind_events),
                 number_or_dash(known, node.behind_ms), node.is.version, node.is.address});
    }
  }
  write_sets(invocation, status);
  write_notes(invocation, status);
  invocation.out.write("\n");
  Table shards(invocation.out, invocation.terminal,
               {{"SHARD", true},
                {"NODE", true},
                {"REPLICAS"},
                {"STATE"},
                {"EPOCH", true},
                {"ORDERED", true},
                {"WAITING", true},
                {"LAST POSITION", true},
                {"WHY"}});
  for (std::size_t s = 0; s != status.shards.size(); ++s) {
    const auto& shard = status.shards[s];
    std::string replicas;
    for (const auto node : shard.replicas) replicas += (replicas.empty() ? "" : " ") + std::to_string(node);
    for (const auto node : shard.learners) replicas += " +" + std::to_string(node);
    shards.row({std::to_string(s), shard.node == 0 ? "-" : std::to_string(shard.node), replicas, state_of(status, s),
                grouped(shard.epoch.value), number_or_dash(known, shard.ordered.value - 1),
                number_or_dash(known, shard.durable > shard.ordered ? shard.durable - shard.ordered : 0),
                number_or_dash(known, shard.last_position.value), shard.trouble});
  }
}

Outcome run_cluster_status(const Invocation& invocation) {
  const auto status = status_asked(invocation);
  if (!status) return Failed(status.error());
  invocation.for_people() ? print_for_people(invocation, *status) : print_lines(invocation, *status);
  return {};
}

Outcome run_cluster_log(const Invocation& invocation) {
  const auto status = status_asked(invocation);
  if (!status) return Failed(status.error());
  if (!status->trouble.empty())
    return Failed(Failure(ErrorCode::unavailable,
                          "the coordinator, which has the log, cannot be asked: " + status->trouble,
                          "ask the coordinators themselves: --coordinator HOST:PORT,..."));
  ListPrinter list(invocation,
                   {{"AT"}, {"FROM", true}, {"TO", true}, {"MS WITHOUT WRITER", true}, {"SHARDS", false, 30}, {"WHY"}});
  for (const auto& change : status->changes) {
    if (invocation.for_people()) {
      const auto node = [](std::uint32_t number) { return number == 0 ? "-" : std::to_string(number); };
      list.row({change.at.text().substr(0, 23) + 'Z', node(change.from), node(change.to),
                grouped(change.without_writer_ms), shards_text(change.shards), sentence_of(change)});
      continue;
    }
    JsonText json;
    write_cluster_change(json, change);
    list.json(json.take());
  }
  list.finish();
  return {};
}

}  // namespace

Command cluster_status_command() {
  return {"cluster status",
          "cluster",
          "Shows a cluster's nodes and shards, and how far each is behind.",
          "evershard cluster status --server 127.0.0.1:7420",
          status_options,
          run_cluster_status};
}

Command cluster_log_command() {
  return {"cluster log",
          "cluster",
          "Shows fail-overs and other changes of who writes and keeps shards.",
          "evershard cluster log --server 127.0.0.1:7420",
          status_options,
          run_cluster_log};
}

}  // namespace evershard::cli
