#include "tests/process/replicas.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace evershard::testing {
namespace {

constexpr std::chrono::seconds in_step_deadline{150};

bool is_in_step(const ClusterStatus& status, std::uint32_t node) {
  if (!status.trouble.empty()) return false;
  for (const auto& at : status.nodes)
    if (at.is.node == node) return at.is.up && at.behind < 50 && at.applied.value != 0;
  return false;
}

}  // namespace

ClusterProcesses::Options replicated(std::uint32_t nodes, std::uint32_t replicas, std::uint32_t shards) {
  ClusterProcesses::Options options;
  options.nodes = nodes;
  options.shards = shards;
  options.flags = [replicas](std::uint32_t number) {
    return ClusterProcesses::is_coordinator(number)
               ? std::map<std::string, std::string>{{"--replicas", std::to_string(replicas)},
                                                    {"--balance-after", "500ms"}}
               : std::map<std::string, std::string>{};
  };
  return options;
}

void add_flags(ClusterProcesses::Options& options,
               std::function<std::map<std::string, std::string>(std::uint32_t number)> more) {
  options.flags = [before = options.flags, more = std::move(more)](std::uint32_t number) {
    auto flags = before ? before(number) : std::map<std::string, std::string>{};
    for (auto& [flag, value] : more(number)) flags[flag] = value;
    return flags;
  };
}

bool is_caught_up(const ClusterProcesses& cluster, std::uint32_t node, std::uint32_t asked,
                  const std::function<void()>& between, std::chrono::seconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (std::chrono::steady_clock::now() < until) {
    const auto status = cluster.connect(asked).cluster_status();
    if (status && is_in_step(*status, node)) return true;
    between();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

void expect_in_step(const ClusterProcesses& cluster, std::uint32_t node, std::uint32_t asked,
                    const std::function<void()>& between) {
  if (is_caught_up(cluster, node, asked, between, in_step_deadline)) return;
  ADD_FAILURE() << "node " << node << " is not in step with the others\n"
                << status_text(cluster, asked) << cluster.log(node);
}

void start_again_who_learned(ClusterProcesses& cluster) {
  for (std::uint32_t n = 1; n <= cluster.nodes(); ++n) {
    if (cluster.log(n).find("start it again, which takes them in") == std::string::npos) continue;
    const auto ended = cluster.wait(n);
    EXPECT_EQ(ended.status, 6) << ended.err;
    cluster.start(n);
  }
}

bool may_take_long() { return std::getenv("EVERSHARD_ROUNDS") != nullptr; }

std::string status_text(const ClusterProcesses& cluster, std::uint32_t asked) {
  const auto status = cluster.connect(asked, std::chrono::seconds(2)).cluster_status();
  if (!status) return "no status: " + status.error().what;
  std::string text = status->trouble + "\n";
  for (const auto& at : status->nodes)
    text += "node " + std::to_string(at.is.node) + (at.is.up ? " up" : " down") + (at.full ? " full" : "") +
            " applied " + std::to_string(at.applied.value) + " behind " + std::to_string(at.behind) + "\n";
  for (const auto& shard : status->shards) {
    text += "writer " + std::to_string(shard.node) + " of";
    for (const auto replica : shard.replicas) text += " " + std::to_string(replica);
    text += "\n";
  }
  return text;
}

}  // namespace evershard::testing
