#include "evershard/api/messages/messages.hpp"

#include <limits>

namespace evershard::messages {

void put(const AggregateInfo& from, pb::AggregateInfo& to) {
  put(from.aggregate, *to.mutable_aggregate());
  to.set_version(from.version.value);
  to.set_last_position(from.last_position.value);
  to.set_shard(from.shard.value);
}

void put(const Membership& from, pb::MembersResponse& to) {
  to.set_store_id(from.store_id);
  to.set_fork_id(from.fork_id);
  to.set_shards(from.shards);
  to.set_hash(from.hash);
  to.set_here(from.here);
  for (const auto& member : from.members) {
    auto& one = *to.add_members();
    one.set_node(member.node);
    one.set_address(member.address);
  }
  for (const auto owner : from.owners) to.add_owners(owner);
  for (const auto epoch : from.epochs) to.add_epochs(epoch.value);
}

Result<void> get(const pb::AggregateInfo& from, AggregateInfo& to) {
  to.aggregate = aggregate_of(from.aggregate());
  to.version = SeqNr(from.version());
  to.last_position = GlobalPosition(from.last_position());
  if (from.shard() > std::numeric_limits<std::uint16_t>::max())
    return refuse(ErrorCode::invalid_argument, "shard: " + std::to_string(from.shard()) + " is none");
  to.shard = ShardId(static_cast<std::uint16_t>(from.shard()));
  return {};
}

Result<void> get(const pb::MembersResponse& from, Membership& to) {
  const auto shards = static_cast<std::size_t>(from.shards());
  const auto owners = static_cast<std::size_t>(from.owners_size()),
             epochs = static_cast<std::size_t>(from.epochs_size());
  if (owners != epochs || (owners != 0 && owners != shards)) {
    return refuse(ErrorCode::invalid_argument, "owners: " + std::to_string(owners) + " with " + std::to_string(epochs) +
                                                   " epochs, of " + std::to_string(shards) + " shards");
  }
  to = {from.store_id(),
        from.fork_id(),
        from.shards(),
        from.hash(),
        from.here(),
        {},
        {from.owners().begin(), from.owners().end()},
        {}};
  for (const auto& member : from.members()) to.members.push_back({member.node(), member.address()});
  for (const auto epoch : from.epochs()) to.epochs.emplace_back(epoch);
  return {};
}

AggregateId aggregate_of(const pb::AggregateId& from) {
  AggregateId aggregate;
  aggregate.type = from.type();
  aggregate.value = from.value();
  return aggregate;
}

}  // namespace evershard::messages
