// RetriedAppends: appends to shards that have replicas: sent again to the next writer, until one answers.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "evershard/cluster/node/node_network.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// All events have ids: what is sent twice is stored once, and both get its answer. So an append is sent again as soon
/// as its shard has another writer, whatever became of the first try.
///
/// Every append is answered exactly once. Any thread.
class RetriedAppends : public std::enable_shared_from_this<RetriedAppends> {
 public:
  using Clock = std::chrono::steady_clock;
  struct Shell {
    std::function<std::uint32_t(ShardId)> writer;  ///< as it is known; 0: nobody
    std::function<void(std::uint32_t node, ShardId, Append, NodeDone<Appended>)> send;
    /// Calls it after a while, and once. Returns: whether it will; false: all is stopping.
    std::function<bool(Clock::duration, std::function<void()>)> later;
  };
  explicit RetriedAppends(Shell shell) : shell_(std::move(shell)) {}

  /// `deadline`: then what the last try was answered with is the answer.
  void append(Append append, ShardId shard, Clock::time_point deadline, NodeDone<Appended> done);
  void writer_changed(ShardId shard);
  /// From now on the first answer is the answer.
  void close();

 private:
  struct One {
    Append append;
    ShardId shard;
    Clock::time_point deadline;
    NodeDone<Appended> done;
    std::uint32_t node = 0;   ///< who was asked last
    std::uint64_t tries = 0;  ///< answers of earlier ones do not end it, unless they are final
    bool waits = false;       ///< the last try was answered; for another writer, or a while
    std::multimap<ShardId, std::uint64_t>::iterator of_shard{};
  };
  void send(std::uint64_t number);
  void send_again(std::uint64_t number, std::uint64_t tried);
  void answered(std::uint64_t number, std::uint64_t tried, Result<Appended> result);
  void answer(std::uint64_t number, Result<Appended> result);

  const Shell shell_;
  std::mutex mutex_;
  std::map<std::uint64_t, One> waiting_;
  std::multimap<ShardId, std::uint64_t> by_shard_;
  std::uint64_t last_ = 0;
  bool closed_ = false;
};

}  // namespace evershard::cluster
