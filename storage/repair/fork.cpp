#include "evershard/storage/repair/fork.hpp"

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {

Result<Identity> stored_identity(const RocksFamilies& families) {
  std::string value;
  auto status = families.db().Get(rocksdb::ReadOptions(), families.handle(Family::state), keys::identity(), &value);
  if (status.IsNotFound()) return refuse(ErrorCode::corruption, "the identity of the store is missing");
  EVERSHARD_TRY(checked(status, "cannot read the store's identity"));
  return decode_identity(value);
}

Result<Identity> give_new_fork(const RocksFamilies& families) {
  auto identity = stored_identity(families);
  if (!identity) return identity;
  if (identity->node != 0) return identity;  // its cluster's: a copy of a node is told apart by how far its cuts go
  identity->fork = EventId::random();
  rocksdb::WriteOptions options;
  options.sync = true;
  EVERSHARD_TRY(checked(families.db().Put(options, families.handle(Family::state), keys::identity(), encode(*identity)),
                        "cannot write the store's identity"));
  return identity;
}

}  // namespace evershard::storage
