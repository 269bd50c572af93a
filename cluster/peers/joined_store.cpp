#include "evershard/cluster/peers/joined_store.hpp"

#include <random>
#include <utility>

#include "evershard/storage/open.hpp"

namespace evershard::cluster {

Result<std::unique_ptr<storage::NodeStore>> open_joined_store(NodeLinks& links, std::uint32_t node, storage::StoreOptions options, std::chrono::milliseconds coordinator_timeout) {
  auto identity = links.identity(coordinator_timeout);
  if (!identity) return refuse(std::move(identity).error());
  options.shards = identity->shards;
  options.member = storage::ClusterMember{node, identity->store, identity->fork, identity->term_key, identity->created_at};
  return storage::open_node_store(std::move(options));
}

std::uint64_t random_incarnation() {
  std::random_device random;
  std::uint64_t number = 0;
  while (number == 0) number = std::uint64_t{random()} << 32 | random();
  return number;
}

}  // namespace evershard::cluster
