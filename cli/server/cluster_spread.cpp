#include "evershard/cli/server/cluster_spread.hpp"

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
using std::chrono::milliseconds;

constexpr milliseconds pause{100}, settled_after{1'500};

std::uint64_t written_by(const ClusterStatus& status, std::uint32_t node) {
  return static_cast<std::uint64_t>(std::ranges::count(status.shards, node, &ClusterStatus::Shard::node));
}

void print_writers(const Invocation& invocation, const ClusterStatus& status) {
  JsonText json;
  json.begin_object().key("nodes").begin_array();
  std::vector<std::pair<std::string, std::string>> parts;
  for (const auto& node : status.nodes) {
    const auto shards = written_by(status, node.is.node);
    json.begin_object().key("node").number(node.is.node).key("shards").number(shards).end_object();
    parts.emplace_back("node " + std::to_string(node.is.node) + " writes", std::to_string(shards) + " shards");
  }
  json.end_array().end_object();
  print_one(invocation, json, parts);
}

Outcome run_cluster_drain(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  ShardAssignment wanted;
  const auto number = arguments.number_at_least("NODE", 1);
  if (number > std::numeric_limits<std::uint32_t>::max())
    throw UsageError("NODE is " + std::to_string(number), "the number of a node");
  wanted.node = static_cast<std::uint32_t>(number);
  wanted.drain = true;
  auto node = node_asked(invocation);
  if (!node) return Failed(std::move(node).error());
  if (const auto answer = node->cluster_assign(wanted); !answer) return Failed(Failure(answer.error()));
  std::uint64_t total = 0;
  const auto status = wait_for_spread(invocation, *node, "handed over", *arguments.duration("within"),
                                      [&](const ClusterStatus& now) -> SpreadProgress {
                                        const auto left = written_by(now, wanted.node);
                                        total = std::max(total, left);
                                        return {total - left, total};
                                      });
  if (!status) return Failed(status.error());
  print_writers(invocation, *status);
  return {};
}

Outcome run_cluster_balance(const Invocation& invocation) {
  ShardAssignment wanted;
  wanted.balance = true;
  auto node = node_asked(invocation);
  if (!node) return Failed(std::move(node).error());
  if (const auto answer = node->cluster_assign(wanted); !answer) return Failed(Failure(answer.error()));
  // Which spread is the last one follows from the replica sets: it is reached when nothing moves any more.
  std::vector<std::uint32_t> before;
  auto since = Clock::now();
  const auto status = wait_for_spread(invocation, *node, "balanced", *invocation.arguments.duration("within"),
                                      [&](const ClusterStatus& now) -> SpreadProgress {
                                        std::vector<std::uint32_t> writers;
                                        for (const auto& shard : now.shards) writers.push_back(shard.node);
                                        if (writers != before) since = Clock::now();
                                        before = std::move(writers);
                                        return {Clock::now() - since >= settled_after ? 1u : 0u, 1};
                                      });
  if (!status) return Failed(status.error());
  print_writers(invocation, *status);
  return {};
}

Options spread_options() {
  Options options = cluster_options();
  options.duration("within", "how long to wait until it is done", wait_rule(), std::chrono::seconds(60));
  return options;
}

}  // namespace

tl::expected<ClusterStatus, Failure> wait_for_spread(const Invocation& invocation, Remote& node,
                                                     const std::string& what, milliseconds timeout,
                                                     const std::function<SpreadProgress(const ClusterStatus&)>& left) {
  LongWork work(invocation, what);
  const auto progress = work.progress();
  const auto until = Clock::now() + timeout;
  std::string why;
  for (SpreadProgress now;; std::this_thread::sleep_for(pause)) {
    auto status = node.cluster_status();
    const bool known = status && status->trouble.empty();
    if (known) now = left(*status);
    if (!progress(now.done, now.total))
      return Failed(work.failure(Error(ErrorCode::cancelled, "the cluster goes on with it")));
    if (known && now.done == now.total) {
      work.clear();
      return *std::move(status);
    }
    if (!status) why = ": " + status.error().what;
    if (status && !known) why = ": " + status->trouble;
    if (Clock::now() < until) continue;
    work.clear();
    return Failed(
        Failure(ErrorCode::timeout, std::to_string(now.done) + " of " + std::to_string(now.total) + " " + what + why,
                "see evershard cluster status; a replica that lags, was drained, or is not up is given nothing"));
  }
}

Command cluster_drain_command() {
  return {"cluster drain",
          "cluster",
          "Lets other replicas write what a node writes, so that it can be stopped.",
          "evershard cluster drain 2 --server 127.0.0.1:7420",
          [] {
            Options options = spread_options();
            options.argument("NODE", "the node's number");
            return options;
          },
          run_cluster_drain,
          nullptr,
          "It writes nothing more until it is started again, or the cluster is balanced. It stays a replica."};
}

Command cluster_balance_command() {
  return {"cluster balance",
          "cluster",
          "Lets all nodes write about as many shards, now.",
          "evershard cluster balance --server 127.0.0.1:7420",
          spread_options,
          run_cluster_balance,
          nullptr,
          "A cluster does it by itself, 30 seconds after the last node came or went."};
}

}  // namespace evershard::cli
