#include "evershard/cluster/peers/joined_store.hpp"

#include <random>
#include <utility>

#include "evershard/storage/directory_kind.hpp"
#include "evershard/storage/open.hpp"
#include "evershard/storage/repair/backup.hpp"

namespace evershard::cluster {

Result<std::uint32_t> shards_to_join(NodeLinksOptions links, const std::filesystem::path& data_dir,
                                     std::chrono::milliseconds coordinator_timeout) {
  if (!data_dir.empty()) {
    EVERSHARD_TRY(storage::refuse_unfinished(data_dir));
    EVERSHARD_TRY(storage::may_be_opened(data_dir, storage::DirectoryKind::store, true));
    // What is due in it would be done a second time, and what it is a copy of goes on beside it.
    if (storage::is_backup(data_dir))
      return refuse(ErrorCode::invalid_argument,
                    data_dir.string() + " is a backup, and a node writes what it opens: " + "evershard restore " +
                        data_dir.string() + " DIRECTORY, and start the node there");
  }
  // Else the coordinator would refuse this process beside the other one, and it would be waited for.
  EVERSHARD_TRY(storage::check_not_open(data_dir));
  const auto told = links.link.who.shards;
  // Whatever else is wrong with a store that is there, its opening says.
  if (const auto own = storage::identity_in(data_dir); own && *own) {
    const auto shards = (*own)->shards;
    if (told != 0 && told != shards)
      return refuse(ErrorCode::invalid_argument, "the store in " + data_dir.string() + " has " +
                                                     std::to_string(shards) + " shards, the node was told " +
                                                     std::to_string(told));
    return shards;
  }
  if (told != 0) return told;
  // A session of its own: from the next one on every peer holds this node to its number.
  links.listen_port = 0;
  auto asking = NodeLinks::open(std::move(links));
  if (!asking) return refuse(std::move(asking).error());
  auto identity = (*asking)->identity(coordinator_timeout);
  if (!identity) return refuse(std::move(identity).error());
  return identity->shards;
}

Result<std::unique_ptr<storage::NodeStore>> open_joined_store(NodeLinks& links, std::uint32_t node,
                                                              storage::StoreOptions options,
                                                              std::chrono::milliseconds coordinator_timeout) {
  auto identity = links.identity(coordinator_timeout);
  if (!identity) return refuse(std::move(identity).error());
  options.shards = identity->shards;
  options.member =
      storage::ClusterMember{node, identity->store, identity->fork, identity->term_key, identity->created_at};
  return storage::open_node_store(std::move(options));
}

std::uint64_t random_incarnation() {
  std::random_device random;
  std::uint64_t number = 0;
  while (number == 0) number = std::uint64_t{random()} << 32 | random();
  return number;
}

}  // namespace evershard::cluster
