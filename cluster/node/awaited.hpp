// Awaited: an answer of another node, waited for, and what is said where none comes.

#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>

#include "evershard/cluster/node/node_network.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// unavailable: the node that has this shard gives no answer; it names both. `why`: what was heard instead.
[[nodiscard]] Error no_answer(std::uint32_t node, ShardId shard, const Error& why);
/// What a node that is asked for one of its shards said: that it, or the link to it, is not there is said of the shard.
[[nodiscard]] Error of_shard(std::uint32_t node, ShardId shard, Error why);

/// One answer of one node. Shape: done() once, wait() once.
template <class T>
class Awaited {
 public:
  using Clock = std::chrono::steady_clock;
  Awaited(std::uint32_t node, ShardId shard) : node_(node), shard_(shard) {}

  [[nodiscard]] std::uint32_t node() const { return node_; }
  /// May be called when nobody waits any more.
  [[nodiscard]] NodeDone<T> done() {
    return [promise = promise_](Result<T> result) { promise->set_value(std::move(result)); };
  }
  /// Errors: unavailable: no answer, or not in time, or the node is not there: node and shard are named; those that the
  /// node answered
  [[nodiscard]] Result<T> wait(Clock::time_point until) {
    if (answer_.wait_until(until) != std::future_status::ready)
      return refuse(no_answer(node_, shard_, {ErrorCode::timeout, "not in time"}));
    auto answer = answer_.get();
    if (!answer) return refuse(of_shard(node_, shard_, std::move(answer).error()));
    return answer;
  }
  /// The same for what changes something: `timeout`, its outcome is unknown, stays that.
  [[nodiscard]] Result<T> wait_for_outcome(Clock::time_point until) {
    if (answer_.wait_until(until) != std::future_status::ready)
      return refuse(ErrorCode::timeout,
                    "the outcome is unknown: " + no_answer(node_, shard_, {ErrorCode::timeout, "not in time"}).what);
    auto answer = answer_.get();
    if (!answer && answer.error().code != ErrorCode::timeout)
      return refuse(of_shard(node_, shard_, std::move(answer).error()));
    return answer;
  }

 private:
  std::uint32_t node_;
  ShardId shard_;
  std::shared_ptr<std::promise<Result<T>>> promise_ = std::make_shared<std::promise<Result<T>>>();
  std::future<Result<T>> answer_ = promise_->get_future();
};

}  // namespace evershard::cluster
