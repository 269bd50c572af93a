// LongReads: reads that turn out to take long share a few places, so that the others go on beside them.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "evershard/storage/index/read_work.hpp"

namespace evershard::cluster {

struct LongReadOptions {
  std::size_t at_once = 2;
  std::size_t waiting_max = 256;  ///< for a place; beyond it `overloaded`
  storage::ReadWorkLimits limits{};
};

/// A read begins in the pool's threads. One that takes longer than a short read gives its thread back to the pool in
/// kind (another begins), goes on at a lower priority, and waits for one of these places, first come, first served. Any
/// thread. Owner: it may go before its reads do.
class LongReads {
 public:
  explicit LongReads(LongReadOptions options = {});

  /// For one call of somebody who reads. Deadline: nobody listens any more.
  [[nodiscard]] std::shared_ptr<storage::ReadWork> begin(
      std::optional<storage::ReadWork::Clock::time_point> deadline = {}) const;
  /// Those that are under way end with `unavailable`, and no other gets a place.
  void close();

  struct Figures {
    std::size_t at_work = 0;
    std::size_t waiting = 0;
    std::uint64_t begun = 0;        ///< that ever asked for a place
    std::uint64_t turned_away = 0;  ///< for as many waited already
  };
  [[nodiscard]] Figures figures() const;

 private:
  struct Places;
  const storage::ReadWorkLimits limits_;
  const std::shared_ptr<Places> places_;
};

}  // namespace evershard::cluster
