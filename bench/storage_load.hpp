// StorageLoad: appends straight into a Store, placed by hand: what storage costs alone, and the quickest way to fill
// one.

#pragma once

#include <memory>
#include <vector>

#include "evershard/bench/report.hpp"
#include "evershard/bench/workload.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::bench {

/// Owner: one thread. Shape: nobody else commits to the store.
class StorageLoad {
 public:
  StorageLoad(storage::Store& store, Workload& workload);
  /// One commit of so many appends of so many events each. Errors: io
  Result<void> commit(std::size_t appends, std::size_t events_each);
  /// Waits as long as the store says that sealing lags behind.
  void pace() const;
  [[nodiscard]] std::uint64_t events() const { return position_; }
  Latencies latencies;  ///< of commits, without making the events

 private:
  storage::Store& store_;
  Workload& workload_;
  sharding::TermHasher hasher_;
  std::uint32_t shards_;
  std::uint64_t position_ = 0;
  std::uint64_t cut_ = 0;
  std::vector<std::uint64_t> next_;      // offset by shard
  std::vector<std::uint64_t> versions_;  // by aggregate number
};

}  // namespace evershard::bench
