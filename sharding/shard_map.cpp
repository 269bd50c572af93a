#include "evershard/sharding/shard_map.hpp"

#include <utility>

namespace evershard::sharding {

Result<void> ShardMap::assign(ShardId shard, ShardOwner owner) {
  if (shard.value >= owners_.size()) {
    return refuse(ErrorCode::invalid_argument, "there is no shard " + std::to_string(shard.value) + " in a store of " +
                                                   std::to_string(owners_.size()) + " shards");
  }
  ShardOwner& known = owners_[shard.value];
  if (owner.epoch <= known.epoch) {
    return refuse(ErrorCode::fenced, "shard " + std::to_string(shard.value) + " is owned by node " +
                                         std::to_string(known.node) + " under epoch " +
                                         std::to_string(known.epoch.value) + ", node " + std::to_string(owner.node) +
                                         " brings epoch " + std::to_string(owner.epoch.value));
  }
  known = std::move(owner);
  return {};
}

}  // namespace evershard::sharding
