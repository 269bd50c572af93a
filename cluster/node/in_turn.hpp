// InTurn: work that has an order, done by threads that have none.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "evershard/actors/threads/work_pool.hpp"

namespace evershard::cluster {

/// Work of one origin is done in the order it came, one piece after the other; an origin waits for no other origin.
/// Any thread. Owner: `threads` is destroyed first, and does what was given.
class InTurn {
 public:
  explicit InTurn(WorkPool& threads) : threads_(threads) {}

  void run(std::uint32_t origin, std::function<void()> work);

 private:
  void next(std::uint32_t origin);

  WorkPool& threads_;
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::deque<std::function<void()>>>
      waiting_;  ///< the first is under way; none: the origin is not here
};

}  // namespace evershard::cluster
