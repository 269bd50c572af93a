#include "evershard/doors/remote/shard_directory.hpp"

#include <algorithm>

#include "evershard/sharding/route.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::remote {

Result<void> ShardDirectory::learn(const Membership& said) {
  if (first_ &&
      (said.store_id != first_->store_id || said.fork_id != first_->fork_id || said.shards != first_->shards)) {
    return refuse(ErrorCode::invalid_argument, "serves another store: " + said.store_id + " (copy " + said.fork_id +
                                                   ", " + std::to_string(said.shards) + " shards), the first one is " +
                                                   first_->store_id + " (copy " + first_->fork_id + ", " +
                                                   std::to_string(first_->shards) + " shards)");
  }
  if (!first_) first_ = said;
  if (said.hash != sharding::hash_id) return {};  // of a release to come: any node takes any append
  if (owners_.empty()) owners_.resize(said.owners.size());
  for (std::size_t shard = 0; shard < std::min(owners_.size(), said.owners.size()); ++shard) {
    // Of the same epoch the later word counts: the node may have gone.
    if (said.epochs[shard] >= owners_[shard].epoch) owners_[shard] = {said.owners[shard], said.epochs[shard]};
  }
  for (const auto& member : said.members) {
    if (!member.address.empty()) addresses_[member.node] = member.address;
  }
  return {};
}

std::optional<ShardId> ShardDirectory::shard_of(const Append& append) const {
  if (owners_.empty() || append.events.empty()) return std::nullopt;
  const auto shards = static_cast<std::uint32_t>(owners_.size());
  const auto& first = append.events.front();
  if (first.aggregate || first.id.given()) return sharding::shard_of(first, first.id, shards);
  if (append.request_id) return sharding::shard_of(first, EventId::derived(*append.request_id, 0), shards);
  return std::nullopt;
}

}  // namespace evershard::remote
