// ShardLoad: how much waits per shard, bounded in appends and bytes.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/encoded_append.hpp"

namespace evershard::actors {

/// Any number of threads at once. An append counts on each shard it visits, its bytes where its first event is.
///
/// Cost: an atomic addition or two where an append visits one shard.
class ShardLoad {
 public:
  ShardLoad(std::uint32_t shards, const Limits& limits);

  /// Errors: overloaded, naming the shard; then nothing was taken
  [[nodiscard]] Result<void> take(const storage::EncodedAppend& append, std::size_t bytes);
  /// Shape: what take() was called with.
  void give_back(const storage::EncodedAppend& append, std::size_t bytes);

 private:
  struct alignas(64) Shard {
    std::atomic<std::uint64_t> appends{0};
    std::atomic<std::uint64_t> bytes{0};
  };
  [[nodiscard]] bool fits(Shard& shard, std::size_t bytes) const;

  const std::size_t appends_max_;
  const std::size_t bytes_max_;
  std::vector<Shard> shards_;
};

}  // namespace evershard::actors
