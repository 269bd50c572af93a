// ShardMap: which node owns which shard, under which epoch. A value, handed out on join.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::sharding {

struct ShardOwner {
  std::uint32_t node = 0;  ///< 0: nobody
  std::string address;
  Epoch epoch;
  friend bool operator==(const ShardOwner&, const ShardOwner&) = default;
};

class ShardMap {
 public:
  explicit ShardMap(std::uint32_t shard_count) : owners_(shard_count) {}
  [[nodiscard]] std::uint32_t shard_count() const { return static_cast<std::uint32_t>(owners_.size()); }
  [[nodiscard]] const ShardOwner& owner(ShardId shard) const { return owners_.at(shard.value); }
  /// Errors: fenced (an older or equal epoch than the map knows), invalid_argument (no such shard)
  Result<void> assign(ShardId shard, ShardOwner owner);
  friend bool operator==(const ShardMap&, const ShardMap&) = default;

 private:
  std::vector<ShardOwner> owners_;
};

}  // namespace evershard::sharding
