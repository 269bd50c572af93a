// Replicas compared: whether other nodes have what this one has of the shards that they both keep: events (I-Same) and
// latest snapshots (I-Snapshot).

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "evershard/cluster/node/awaited.hpp"
#include "evershard/cluster/node/cluster_node.hpp"
#include "evershard/storage/journal/journal_sum.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::cluster {
namespace {

constexpr std::uint64_t events_a_range = 20'000;
constexpr int looks = 10;  ///< what was removed here comes to the others a moment later
/// So often in succession both have the same snapshots as before, and others than each other: longer than one that came
/// with an append waits for its entry in the row log.
constexpr int snapshot_looks = 20, snapshot_looks_max = 40;
constexpr auto between_looks = std::chrono::milliseconds(100);

std::string range_of(ShardId shard, ShardOffset from, ShardOffset until) {
  return "shard " + std::to_string(shard.value) + ", offsets " + std::to_string(from.value) + " to " +
         std::to_string(until.value - 1);
}

}  // namespace

Result<ComparedReplicas> ClusterNode::compare_replicas(const storage::Progress& progress) {
  ComparedReplicas compared;
  const auto sets = committer_.replica_sets();
  const auto self = options_.committer.self.node;
  const auto sum_of = [&](std::uint32_t node, const JournalSumAsked& asked) {
    Awaited<storage::JournalSum> answer(node, asked.shard);
    network_.journal_sum(node, asked, answer.done());
    return answer.wait(std::chrono::steady_clock::now() + options_.timeout);
  };
  const auto finding = [&](std::string what) {
    ++compared.errors;
    compared.findings.push_back(std::move(what));
  };
  const auto unknown = [&](ShardId shard, std::uint32_t node, const std::string& what, const std::string& why) {
    compared.findings.push_back(what + "shard " + std::to_string(shard.value) + " of node " + std::to_string(node) +
                                " cannot be compared" + why);
  };
  const auto compare_snapshots = [&](std::uint32_t node, ShardId shard) -> Result<void> {
    const JournalSumAsked asked{shard, ShardOffset{1}, ShardOffset{1}, true};
    storage::JournalSum before_here, before_there;
    for (int look = 0, still = 0; look != snapshot_looks_max; ++look) {
      if (look != 0) std::this_thread::sleep_for(between_looks);
      const auto there = sum_of(node, asked);
      if (!there) {
        unknown(shard, node, "snapshots of ", ": " + there.error().what);
        return {};
      }
      const auto here = committer_.journal_sum(asked);
      if (!here) return refuse(here.error());
      if (!there->snapshots || *here == *there) return {};  // a node of an earlier release says none
      still = here->rows == there->rows && *here == before_here && *there == before_there ? still + 1 : 0;
      if (still == snapshot_looks) {
        finding("shard " + std::to_string(shard.value) + ": node " + std::to_string(node) +
                " has other snapshots than node " + std::to_string(self));
        return {};
      }
      before_here = *here;
      before_there = *there;
    }
    unknown(shard, node, "snapshots of ", ": they change all the time");
    return {};
  };
  for (std::size_t s = 0; s != sets.size(); ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    if (sets[s].nodes.size() < 2 || !sets[s].has(self)) continue;
    for (const auto node : sets[s].nodes) {
      if (node == self) continue;
      for (ShardOffset from{1};;) {
        EVERSHARD_TRY(storage::report(progress, s, sets.size()));
        storage::JournalSum here, there;
        std::optional<Error> silent;
        for (int look = 0; look != looks; ++look) {
          if (look != 0) std::this_thread::sleep_for(between_looks);
          auto asked = sum_of(node, {shard, from, from + events_a_range});
          silent = asked ? std::nullopt : std::optional(asked.error());
          if (silent) break;
          there = *std::move(asked);
          auto own = committer_.journal_sum({shard, from, there.until});
          if (!own) return refuse(std::move(own).error());
          here = *std::move(own);
          if (here == there || here.until < there.until) break;
        }
        // This is no damage: it is not known whether the two replicas have the same events.
        const auto from_here = " from offset " + std::to_string(from.value) + " on: ";
        if (silent) {
          unknown(shard, node, "", from_here + silent->what);
          break;
        }
        if (here.until < there.until || there.until <= from) break;  // one replica is behind: the rest is not compared
        if (here.sum != there.sum && here.rows != there.rows) {
          unknown(shard, node, "", from_here + "not all that was removed is removed on both yet");
          break;
        }
        if (here.sum != there.sum) {
          finding(range_of(shard, from, there.until) + ": node " + std::to_string(node) +
                  " has something else than node " + std::to_string(self));
          break;
        }
        compared.events += there.until - from;
        from = there.until;
      }
      EVERSHARD_TRY(compare_snapshots(node, shard));
    }
  }
  return compared;
}

}  // namespace evershard::cluster
