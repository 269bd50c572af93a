// What a node asks another one to read for it, and what answers it.

#include "evershard/cluster/peers/peer_messages.hpp"

#include <utility>

#include "evershard/cluster/peers/peer_fields.hpp"
#include "evershard/protocol/messages.hpp"

namespace evershard::cluster {
namespace {

namespace pb = evershard::v1;
using namespace peer_fields;
using messages::get;
using messages::put;

}  // namespace

std::string encode(const NodePageAsked& asked) {
  pb::NodeRead message;
  for (const auto shard : asked.shards) message.add_shards(shard.value);
  put(asked.query, *message.mutable_query());
  message.set_after(asked.after.value);
  message.set_up_to(asked.up_to.value);
  message.set_backwards(asked.direction == Direction::backwards);
  message.set_events_max(asked.events_max);
  message.set_read(asked.read);
  for (const auto& name : asked.names) put_id(name, *message.add_names());
  return message.SerializeAsString();
}

std::string encode_given_up(std::uint64_t read) {
  pb::NodeGivenUp message;
  message.set_read(read);
  return message.SerializeAsString();
}

Result<std::uint64_t> decode_given_up(std::string_view bytes) {
  pb::NodeGivenUp message;
  if (!parse(bytes, message) || message.read() == 0) return malformed("read that was given up");
  return message.read();
}

Result<NodePageAsked> decode_read(std::string_view bytes) {
  pb::NodeRead message;
  NodePageAsked asked;
  if (!parse(bytes, message) || !message.has_query() || !get(*message.mutable_query(), asked.query) ||
      !asked.query.check())
    return malformed("read");
  for (const auto number : message.shards()) {
    ShardId shard;
    if (!shard_of(number, shard) || (!asked.shards.empty() && shard <= asked.shards.back()))
      return malformed("read: its shards ascend");
    asked.shards.push_back(shard);
  }
  asked.after = GlobalPosition{message.after()};
  asked.up_to = GlobalPosition{message.up_to()};
  asked.direction = message.backwards() ? Direction::backwards : Direction::forwards;
  asked.events_max = message.events_max();
  asked.read = message.read();
  for (const auto& name : message.names())
    if (!id_of(name, asked.names.emplace_back())) return malformed("read: a name has 16 bytes");
  return asked;
}

std::string encode(const NodeStreamAsked& asked) {
  pb::NodeReadStream message;
  put(asked.aggregate, *message.mutable_aggregate());
  put(asked.options, *message.mutable_options());
  message.set_up_to(asked.up_to.value);
  message.set_events_max(asked.events_max);
  return message.SerializeAsString();
}

Result<NodeStreamAsked> decode_read_stream(std::string_view bytes) {
  pb::NodeReadStream message;
  NodeStreamAsked asked;
  if (!parse(bytes, message) || !get(*message.mutable_options(), asked.options))
    return malformed("read of an aggregate");
  asked.aggregate = {message.aggregate().type(), message.aggregate().value()};
  if (!AggregateId::check(asked.aggregate)) return malformed("read of an aggregate");
  asked.up_to = GlobalPosition{message.up_to()};
  asked.events_max = message.events_max();
  return asked;
}

std::string encode(const NodeHeadAsked& asked) {
  pb::NodeHead message;
  put(asked.aggregate, *message.mutable_aggregate());
  message.set_up_to(asked.up_to.value);
  message.set_shown(asked.shown);
  return message.SerializeAsString();
}

Result<NodeHeadAsked> decode_head_asked(std::string_view bytes) {
  pb::NodeHead message;
  if (!parse(bytes, message)) return malformed("question for a head");
  NodeHeadAsked asked{
      {message.aggregate().type(), message.aggregate().value()}, GlobalPosition{message.up_to()}, message.shown()};
  if (!AggregateId::check(asked.aggregate)) return malformed("question for a head");
  return asked;
}

std::string encode(const NodePage& page) {
  pb::NodePage message;
  for (const auto& event : page.events) put(event, *message.add_events());
  message.set_complete_to(page.complete_to.value);
  message.set_end(page.end);
  return message.SerializeAsString();
}

Result<NodePage> decode_page(std::string_view bytes) {
  pb::NodePage message;
  NodePage page;
  if (!parse(bytes, message)) return malformed("page");
  page.events.reserve(static_cast<std::size_t>(message.events_size()));
  for (auto& event : *message.mutable_events())
    if (!get(event, page.events.emplace_back())) return malformed("page");
  page.complete_to = GlobalPosition{message.complete_to()};
  page.end = message.end();
  return page;
}

std::string encode_head(const AggregateInfo& head) {
  pb::NodeHeadAnswer message;
  message.set_version(head.version.value);
  message.set_last_position(head.last_position.value);
  return message.SerializeAsString();
}

Result<AggregateInfo> decode_head(std::string_view bytes, const AggregateId& aggregate, ShardId shard) {
  pb::NodeHeadAnswer message;
  if (!parse(bytes, message)) return malformed("head");
  return AggregateInfo{aggregate, SeqNr{message.version()}, GlobalPosition{message.last_position()}, shard};
}

std::string encode(const NodeSnapshotsAsked& asked) {
  pb::NodeSnapshotsAsked message;
  put(asked.aggregate, *message.mutable_aggregate());
  message.set_which(static_cast<std::uint32_t>(asked.which));
  message.set_at(asked.at);
  message.set_up_to(asked.up_to.value);
  return message.SerializeAsString();
}

Result<NodeSnapshotsAsked> decode_snapshots_asked(std::string_view bytes) {
  pb::NodeSnapshotsAsked message;
  if (!parse(bytes, message) || message.which() > static_cast<std::uint32_t>(NodeSnapshotsAsked::Which::all))
    return malformed("question for snapshots");
  NodeSnapshotsAsked asked{{message.aggregate().type(), message.aggregate().value()},
                           static_cast<NodeSnapshotsAsked::Which>(message.which()),
                           message.at(),
                           GlobalPosition{message.up_to()}};
  if (!AggregateId::check(asked.aggregate)) return malformed("question for snapshots");
  return asked;
}

std::string encode(const std::vector<RecordedSnapshot>& snapshots) {
  pb::NodeSnapshots message;
  for (const auto& snapshot : snapshots) put(snapshot, *message.add_snapshots());
  return message.SerializeAsString();
}

Result<std::vector<RecordedSnapshot>> decode_snapshots(std::string_view bytes) {
  pb::NodeSnapshots message;
  std::vector<RecordedSnapshot> snapshots;
  if (!parse(bytes, message)) return malformed("list of snapshots");
  for (auto& snapshot : *message.mutable_snapshots())
    if (!get(snapshot, snapshots.emplace_back())) return malformed("list of snapshots");
  return snapshots;
}

std::string encode(const Snapshot& snapshot, GlobalPosition up_to) {
  pb::NodePutSnapshot message;
  put(snapshot, *message.mutable_snapshot());
  message.set_up_to(up_to.value);
  return message.SerializeAsString();
}

Result<std::pair<Snapshot, GlobalPosition>> decode_put_snapshot(std::string_view bytes) {
  pb::NodePutSnapshot message;
  std::pair<Snapshot, GlobalPosition> decoded;
  if (!parse(bytes, message) || !get(*message.mutable_snapshot(), decoded.first)) return malformed("snapshot");
  decoded.second = GlobalPosition{message.up_to()};
  return decoded;
}

std::string encode(const NodeAggregatesAsked& asked) {
  pb::NodeAggregatesAsked message;
  for (const auto shard : asked.shards) message.add_shards(shard.value);
  if (asked.type) message.set_type(*asked.type);
  if (asked.after) put(*asked.after, *message.mutable_after());
  message.set_limit(asked.limit);
  message.set_up_to(asked.up_to.value);
  message.set_read(asked.read);
  return message.SerializeAsString();
}

Result<NodeAggregatesAsked> decode_aggregates_asked(std::string_view bytes) {
  pb::NodeAggregatesAsked message;
  NodeAggregatesAsked asked;
  if (!parse(bytes, message)) return malformed("question for aggregates");
  for (const auto number : message.shards()) {
    ShardId shard;
    if (!shard_of(number, shard) || (!asked.shards.empty() && shard <= asked.shards.back()))
      return malformed("question for aggregates: its shards ascend");
    asked.shards.push_back(shard);
  }
  if (message.has_type()) asked.type = message.type();
  if (message.has_after()) asked.after = AggregateId{message.after().type(), message.after().value()};
  if ((asked.type && !AggregateId::check({*asked.type, "x"})) || (asked.after && !AggregateId::check(*asked.after)))
    return malformed("question for aggregates");
  asked.limit = message.limit();
  asked.up_to = GlobalPosition{message.up_to()};
  asked.read = message.read();
  return asked;
}

std::string encode(const std::vector<AggregateInfo>& aggregates) {
  pb::NodeAggregates message;
  for (const auto& info : aggregates) {
    auto& row = *message.add_aggregates();
    put(info.aggregate, *row.mutable_aggregate());
    row.set_version(info.version.value);
    row.set_last_position(info.last_position.value);
    row.set_shard(info.shard.value);
  }
  return message.SerializeAsString();
}

Result<std::vector<AggregateInfo>> decode_aggregates(std::string_view bytes) {
  pb::NodeAggregates message;
  std::vector<AggregateInfo> aggregates;
  if (!parse(bytes, message)) return malformed("list of aggregates");
  for (const auto& row : message.aggregates()) {
    AggregateInfo info{{row.aggregate().type(), row.aggregate().value()},
                       SeqNr{row.version()},
                       GlobalPosition{row.last_position()},
                       {}};
    if (!shard_of(row.shard(), info.shard)) return malformed("list of aggregates");
    aggregates.push_back(std::move(info));
  }
  return aggregates;
}

}  // namespace evershard::cluster
