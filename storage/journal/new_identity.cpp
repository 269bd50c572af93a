#include "evershard/storage/journal/new_identity.hpp"

#include "evershard/sharding/stream_hash.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint32_t shards_of_a_new_store = 16;

std::uint64_t random_number() {
  auto id = EventId::random();
  std::uint64_t number = 0;
  for (std::size_t i : {0, 1, 2, 3, 4, 5, 10, 11})
    number = number << 8 | id.bytes[i];  // none of them has version or variant bits
  return number;
}

}  // namespace

Identity new_identity(std::uint32_t shards, const std::optional<ClusterMember>& member) {
  Identity identity;
  identity.store = EventId::random();
  identity.fork = identity.store;
  identity.shards = shards == 0 ? shards_of_a_new_store : shards;
  identity.hash = sharding::hash_id;
  identity.term_key = random_number();
  identity.created_at = Timestamp::now();
  if (!member) return identity;
  identity.format = format_version;
  identity.node = member->node;
  identity.store = member->store;
  identity.fork = member->fork;
  identity.term_key = member->term_key;
  identity.created_at = member->created_at;
  return identity;
}

}  // namespace evershard::storage
