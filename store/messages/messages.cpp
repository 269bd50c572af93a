#include "evershard/store/messages/messages.hpp"

#include <limits>

namespace evershard::messages {

void put(const AggregateInfo& from, pb::AggregateInfo& to) {
  put(from.aggregate, *to.mutable_aggregate());
  to.set_version(from.version.value);
  to.set_last_position(from.last_position.value);
  to.set_shard(from.shard.value);
}

void put(const StoreStats& from, pb::StatsResponse& to) {
  to.set_store_id(from.info.store_id);
  to.set_fork_id(from.info.fork_id);
  to.set_shards(from.info.shards);
  to.set_format(from.info.format);
  to.set_hash(from.info.hash);
  to.set_created_at_us(from.info.created_at.micros);
  to.set_watermark(from.watermark.value);
  to.set_sealed(from.sealed.value);
  to.set_tail_events(from.tail_events);
  to.set_commits(from.commits);
  to.set_appends(from.appends);
  to.set_refused(from.refused);
  to.set_disk_bytes(from.disk_bytes);
  to.set_disk_free_bytes(from.disk_free_bytes);
  to.set_memory_bytes(from.memory_bytes);
  to.set_backend_assertions(from.backend_assertions);
  for (const auto& [name, value] : from.details) {
    auto& detail = *to.add_details();
    detail.set_name(name);
    detail.set_value(value);
  }
}

void put(const VerifyReport& from, pb::VerifyReport& to) {
  to.set_events(from.events);
  to.set_records(from.records);
  to.set_index_rows(from.index_rows);
  to.set_snapshots(from.snapshots);
  to.set_errors(from.errors);
  for (const auto& finding : from.findings) to.add_findings(finding);
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

Result<void> get(pb::StatsResponse& from, StoreStats& to) {
  to.info = {from.store_id(), from.shards(), from.format(), from.hash(), Timestamp{from.created_at_us()},
             from.fork_id()};
  to.watermark = GlobalPosition(from.watermark());
  to.sealed = GlobalPosition(from.sealed());
  to.tail_events = from.tail_events();
  to.commits = from.commits();
  to.appends = from.appends();
  to.refused = from.refused();
  to.disk_bytes = from.disk_bytes();
  to.disk_free_bytes = from.disk_free_bytes();
  to.memory_bytes = from.memory_bytes();
  to.backend_assertions = from.backend_assertions();
  for (const auto& detail : from.details()) to.details.emplace_back(detail.name(), detail.value());
  return {};
}

Result<void> get(pb::VerifyReport& from, VerifyReport& to) {
  to = {from.events(),    from.records(), from.index_rows(),
        from.snapshots(), from.errors(),  {from.findings().begin(), from.findings().end()}};
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
