#include "evershard/api/messages/cluster_messages.hpp"

#include <limits>

namespace evershard::messages {
namespace {

Result<ShardId> shard_number(std::uint32_t number) {
  if (number > std::numeric_limits<std::uint16_t>::max())
    return refuse(ErrorCode::corruption, "a message names shard " + std::to_string(number));
  return ShardId{static_cast<std::uint16_t>(number)};
}

void put_loss(const ShardLoss& from, v1::ShardLoss& to) {
  to.set_shard(from.shard.value);
  to.set_from(from.from.value);
  to.set_until(from.until.value);
  to.set_unordered(from.unordered);
}

Result<void> get_losses(const google::protobuf::RepeatedPtrField<v1::ShardLoss>& from, std::vector<ShardLoss>& to) {
  for (const auto& loss : from) {
    const auto shard = shard_number(loss.shard());
    if (!shard) return refuse(shard.error());
    to.push_back({*shard, ShardOffset{loss.from()}, ShardOffset{loss.until()}, loss.unordered()});
  }
  return {};
}

}  // namespace

void put(const ClusterStatus& from, v1::ClusterStatusResponse& to) {
  to.set_self(from.self);
  to.set_applied(from.applied.value);
  to.set_trouble(from.trouble);
  to.set_coordinator(from.coordinator.value);
  to.set_last_cut(from.last_cut.value);
  to.set_watermark(from.watermark.value);
  to.set_cuts_per_second(from.cuts_per_second);
  for (const auto& node : from.nodes) {
    auto& put_node = *to.add_nodes();
    put_node.set_node(node.is.node);
    put_node.set_address(node.is.address);
    put_node.set_door(node.is.door);
    put_node.set_up(node.is.up);
    put_node.set_since_us(node.is.since.micros);
    put_node.set_version(node.is.version);
    put_node.set_shards(node.shards);
    put_node.set_applied(node.applied.value);
    put_node.set_behind(node.behind);
    put_node.set_refused(node.refused);
    put_node.set_gateway(node.is.gateway);
    put_node.set_behind_events(node.behind_events);
    put_node.set_behind_ms(node.behind_ms);
    put_node.set_replicas(node.replicas);
    put_node.set_learns(node.learns);
    put_node.set_learned_events(node.learned_events);
    put_node.set_learn_events(node.learn_events);
    put_node.set_zone(node.zone);
    put_node.set_full(node.full);
    if (node.learn_left_ms) put_node.set_learn_left_ms(*node.learn_left_ms);
    if (node.clock_ahead_ms) put_node.set_clock_ahead_ms(*node.clock_ahead_ms);
    put_node.set_clock_differs(node.clock_differs);
  }
  for (const auto& shard : from.shards) {
    auto& put_shard = *to.add_shards();
    put_shard.set_node(shard.node);
    put_shard.set_epoch(shard.epoch.value);
    put_shard.set_open(shard.open);
    put_shard.set_durable(shard.durable.value);
    put_shard.set_ordered(shard.ordered.value);
    put_shard.set_last_position(shard.last_position.value);
    put_shard.set_trouble(shard.trouble);
    put_shard.set_quorum(shard.quorum);
    for (const auto node : shard.replicas) put_shard.add_replicas(node);
    for (const auto node : shard.learners) put_shard.add_learners(node);
    put_shard.set_without_quorum(shard.without_quorum);
    put_shard.set_without_writer_ms(shard.without_writer_ms);
  }
  for (const auto& change : from.changes) {
    auto& put_change = *to.add_changes();
    put_change.set_at_us(change.at.micros);
    put_change.set_cause(static_cast<v1::ClusterStatusResponse::Cause>(change.cause));
    put_change.set_from(change.from);
    put_change.set_to(change.to);
    for (const auto shard : change.shards) put_change.add_shards(shard.value);
    put_change.set_without_writer_ms(change.without_writer_ms);
  }
  for (const auto& count : from.counts) {
    auto& put_count = *to.add_counts();
    put_count.set_cause(static_cast<v1::ClusterStatusResponse::Cause>(count.cause));
    put_count.set_changes(count.changes);
    put_count.set_without_writer_ms(count.without_writer_ms);
  }
}

Result<void> get(const v1::ClusterStatusResponse& from, ClusterStatus& to) {
  to.self = from.self();
  to.applied = GlobalPosition{from.applied()};
  to.trouble = from.trouble();
  to.coordinator = Epoch{from.coordinator()};
  to.last_cut = CutNumber{from.last_cut()};
  to.watermark = GlobalPosition{from.watermark()};
  to.cuts_per_second = from.cuts_per_second();
  for (const auto& node : from.nodes()) {
    to.nodes.push_back({{node.node(), node.address(), node.door(), node.up(), Timestamp{node.since_us()},
                         node.version(), node.gateway()},
                        node.shards(),
                        CutNumber{node.applied()},
                        node.behind(),
                        node.refused(),
                        node.behind_events(),
                        node.behind_ms(),
                        node.replicas(),
                        node.learns(),
                        node.learned_events(),
                        node.learn_events(),
                        node.zone(),
                        node.full(),
                        {},
                        {},
                        node.clock_differs()});
    auto& got = to.nodes.back();
    if (node.has_learn_left_ms()) got.learn_left_ms = node.learn_left_ms();
    if (node.has_clock_ahead_ms()) got.clock_ahead_ms = node.clock_ahead_ms();
  }
  for (const auto& shard : from.shards()) {
    to.shards.push_back({shard.node(),
                         Epoch{shard.epoch()},
                         shard.open(),
                         ShardOffset{shard.durable()},
                         ShardOffset{shard.ordered()},
                         GlobalPosition{shard.last_position()},
                         shard.trouble(),
                         shard.quorum(),
                         {shard.replicas().begin(), shard.replicas().end()},
                         {shard.learners().begin(), shard.learners().end()},
                         shard.without_quorum(),
                         shard.without_writer_ms()});
  }
  // Causes of a later release are left out.
  for (const auto& change : from.changes()) {
    if (!v1::ClusterStatusResponse::Cause_IsValid(change.cause())) continue;
    ClusterChange got{
        Timestamp{change.at_us()}, static_cast<ClusterChange::Cause>(change.cause()), change.from(), change.to(), {},
        change.without_writer_ms()};
    for (const auto number : change.shards()) {
      const auto shard = shard_number(number);
      if (!shard) return refuse(shard.error());
      got.shards.push_back(*shard);
    }
    to.changes.push_back(std::move(got));
  }
  for (const auto& count : from.counts())
    if (v1::ClusterStatusResponse::Cause_IsValid(count.cause()))
      to.counts.push_back(
          {static_cast<ClusterChange::Cause>(count.cause()), count.changes(), count.without_writer_ms()});
  return {};
}

void put(const ShardAssignment& from, v1::ClusterAssignRequest& to) {
  to.set_node(from.node);
  for (const auto shard : from.shards) to.add_shards(shard.value);
  for (const auto& loss : from.accepted) put_loss(loss, *to.add_accepted());
  to.set_drain(from.drain);
  to.set_balance(from.balance);
  to.set_sets(static_cast<v1::ClusterAssignRequest::Sets>(from.sets));
  to.set_from(from.from);
}

Result<void> get(const v1::ClusterAssignRequest& from, ShardAssignment& to) {
  to.node = from.node();
  to.drain = from.drain();
  to.balance = from.balance();
  if (!v1::ClusterAssignRequest::Sets_IsValid(from.sets()))
    return refuse(ErrorCode::corruption, "a message asks for a change of who keeps what that is not known");
  to.sets = static_cast<ShardAssignment::Sets>(from.sets());
  to.from = from.from();
  for (const auto number : from.shards()) {
    const auto shard = shard_number(number);
    if (!shard) return refuse(shard.error());
    to.shards.push_back(*shard);
  }
  return get_losses(from.accepted(), to.accepted);
}

void put(const ShardsAssigned& from, v1::ClusterAssignResponse& to) {
  to.set_done(from.done);
  to.set_left(from.left);
  for (const auto& loss : from.losses) put_loss(loss, *to.add_losses());
}

Result<void> get(const v1::ClusterAssignResponse& from, ShardsAssigned& to) {
  to.done = from.done();
  to.left = from.left();
  return get_losses(from.losses(), to.losses);
}

}  // namespace evershard::messages
