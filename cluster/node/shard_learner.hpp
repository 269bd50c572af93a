// ShardLearner: gives this node what it is to keep and does not have yet, beside its store.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "evershard/cluster/node/node_committer.hpp"
#include "evershard/storage/learned/learned_shards.hpp"
#include "evershard/storage/options.hpp"

namespace evershard::cluster {

struct ShardLearnerOptions {
  std::uint32_t self = 0;
  storage::StoreOptions store{};                 ///< of the node; in memory: it learns nothing
  std::uint64_t bytes_per_second = 64u << 20;    ///< of journals; 0: as fast as they come
  std::chrono::milliseconds look_every{500};     ///< whether there is something to learn
  std::chrono::milliseconds answer_max{10'000};  ///< of another node
  std::function<void(const Error&)> warn{};      ///< for the log; from its thread
};

/// Journals first, from any node that keeps them, a range at a time; then the order of all that the node keeps then,
/// its own part from its own store, put together as a node that was away puts it together. When all of that is on the
/// disk the node has to be opened again: it ends, with `unavailable`.
///
/// Owner:  the committer and the network outlive it.
/// Source: docs/internals/replication.md, "Sets that change".
class ShardLearner {
 public:
  ShardLearner(NodeCommitter& committer, NodeNetwork& network, ShardLearnerOptions options);
  ~ShardLearner();
  ShardLearner(const ShardLearner&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  using Keeping = NodeCommitter::Keeping;

  void loop();
  [[nodiscard]] Result<void> learn(const Keeping& keeping);
  /// Up to where cuts have decided, on the node that is asked.
  [[nodiscard]] Result<void> learn_journal(storage::LearnedShards& learned, ShardId shard);
  [[nodiscard]] Result<storage::LearnedOrder> learn_order(storage::LearnedShards& learned, const Keeping& keeping);
  [[nodiscard]] Result<std::vector<HistoryPart>> ask_all(const Keeping& keeping, GlobalPosition after);
  /// Who is asked for the shard: another one each time that one has failed. Errors: unavailable: nobody else keeps it
  [[nodiscard]] Result<std::uint32_t> source(ShardId shard) const;
  void failed_at(std::uint32_t node) { ++failures_[node]; }
  [[nodiscard]] bool stopping();
  /// Returns: false: it is stopping.
  bool wait(Clock::duration time);
  void pace(std::size_t bytes);
  /// Whether the node still keeps and learns the shards that `keeping` names.
  [[nodiscard]] bool still(const Keeping& keeping) const;

  NodeCommitter& committer_;
  NodeNetwork& network_;
  const ShardLearnerOptions options_;
  std::map<std::uint32_t, std::uint64_t> failures_;
  std::string said_;  ///< the last warning
  Clock::time_point paced_until_{};

  std::mutex mutex_;
  std::condition_variable more_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace evershard::cluster
