// `evershard cluster add | remove | move | rebalance`: which nodes keep which shards.

#include <algorithm>
#include <limits>
#include <string>
#include <thread>

#include "evershard/cli/long_work.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/server/cluster_flags.hpp"

namespace evershard::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Sets = ShardAssignment::Sets;
using std::chrono::milliseconds;

constexpr milliseconds asked_every{500};
constexpr auto takes_at_most = std::chrono::hours(24);

/// What may go by: a node is started again with what it has learned, another coordinator leads.
bool goes_by(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout || error.code == ErrorCode::fenced;
}

void print_keepers(const Invocation& invocation, const ClusterStatus& status) {
  JsonText json;
  json.begin_object().key("nodes").begin_array();
  std::vector<std::pair<std::string, std::string>> parts;
  for (const auto& node : status.nodes) {
    json.begin_object().key("node").number(node.is.node).key("replicas").number(node.replicas).end_object();
    parts.emplace_back("node " + std::to_string(node.is.node) + " keeps", std::to_string(node.replicas) + " replicas");
  }
  json.end_array().end_object();
  print_one(invocation, json, parts);
}

// The change is asked for again and again: the coordinator that leads by then goes on with it.
Outcome change(const Invocation& invocation, const ShardAssignment& wanted) {
  auto node = node_asked(invocation);
  if (!node) return Failed(std::move(node).error());
  LongWork work(invocation, "replicas made");
  const auto progress = work.progress();
  const auto until = Clock::now() + *invocation.arguments.duration("within");
  std::uint64_t total = 0, left = 0;
  std::string why;
  bool begun = false;
  for (;; std::this_thread::sleep_for(asked_every)) {
    const auto answer = node->cluster_assign(wanted);
    if (answer) {
      begun = true;
      left = answer->left;
      total = std::max(total, left);
      why.clear();
    } else if (!begun || !goes_by(answer.error())) {
      return Failed(work.failure(answer.error()));
    } else {
      why = ": " + answer.error().what;
    }
    if (!progress(total - left, std::max<std::uint64_t>(total, 1)))
      return Failed(work.failure(Error(ErrorCode::cancelled, "the cluster goes on with what it has begun")));
    if (answer && left == 0) break;
    if (Clock::now() < until) continue;
    work.clear();
    return Failed(Failure(
        ErrorCode::timeout,
        std::to_string(left) + " of " + std::to_string(total) + " replicas are still to be made or given up" + why,
        "ask for it again to wait longer; evershard cluster status shows how far it is"));
  }
  work.clear();
  const auto status = node->cluster_status();
  if (!status) return Failed(Failure(status.error()));
  print_keepers(invocation, *status);
  return {};
}

std::uint32_t node_number(const Arguments& arguments, const std::string& name) {
  const auto number = arguments.number_at_least(name, 1);
  if (number > std::numeric_limits<std::uint32_t>::max())
    throw UsageError(name + " is " + std::to_string(number), "the number of a node");
  return static_cast<std::uint32_t>(number);
}

Options sets_options() {
  Options options = cluster_options();
  options.duration("within", "how long to wait until it is done", wait_rule(), takes_at_most);
  return options;
}
Options with_node() {
  Options options = sets_options();
  options.argument("NODE", "the node's number");
  return options;
}

}  // namespace

Command cluster_add_command() {
  return {"cluster add",
          "cluster",
          "Gives a node that has come its share of the replicas.",
          "evershard cluster add 4 --server 127.0.0.1:7420",
          with_node,
          [](const Invocation& invocation) {
            return change(invocation, {.node = node_number(invocation.arguments, "NODE"), .sets = Sets::add});
          },
          nullptr,
          "It is given them while everything goes on, and is started again once. Asked for again, it goes on."};
}

Command cluster_remove_command() {
  return {"cluster remove",
          "cluster",
          "Gives what a node keeps to others, for good.",
          "evershard cluster remove 2 --server 127.0.0.1:7420",
          with_node,
          [](const Invocation& invocation) {
            return change(invocation, {.node = node_number(invocation.arguments, "NODE"), .sets = Sets::remove});
          },
          nullptr,
          "When it is done, stop the node. `cluster add` takes it back."};
}

Command cluster_move_command() {
  return {"cluster move",
          "cluster",
          "Moves replicas of shards to a node.",
          "evershard cluster move 3,5 --to 4 --from 1 --server 127.0.0.1:7420",
          [] {
            Options options = sets_options();
            options.argument("SHARDS", "their numbers, with commas")
                .value("to", "NODE", "the node that is to keep them")
                .value("from", "NODE", "the node that is not to keep them any more; without it, whoever keeps most");
            return options;
          },
          [](const Invocation& invocation) {
            const auto& arguments = invocation.arguments;
            ShardAssignment wanted{.shards = shards_in(*arguments.text("SHARDS")), .sets = Sets::move};
            if (!arguments.has("to")) throw UsageError("--to is needed", "the node that is to keep them");
            wanted.node = node_number(arguments, "to");
            if (arguments.has("from")) wanted.from = node_number(arguments, "from");
            return change(invocation, wanted);
          }};
}

Command cluster_rebalance_command() {
  return {"cluster rebalance",
          "cluster",
          "Lets all nodes keep about as many replicas.",
          "evershard cluster rebalance --server 127.0.0.1:7420",
          sets_options,
          [](const Invocation& invocation) { return change(invocation, {.sets = Sets::rebalance}); },
          nullptr,
          "Who writes them is another thing: that spreads by itself, and with `cluster balance` at once."};
}

}  // namespace evershard::cli
