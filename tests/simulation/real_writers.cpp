#include "tests/simulation/real_writers.hpp"

#include <algorithm>

namespace evershard::simulation {
namespace {

constexpr sharding::Term stream_term(ShardId shard, std::uint32_t aggregate) {
  // Those with a number of their own are all over the shards.
  return aggregate < 1'000 ? 1'000'000 + shard.value * 1'000 + aggregate : 1'000'000'000 + aggregate;
}

storage::EncodedAggregate encoded(ShardId shard, std::uint32_t aggregate) {
  auto id = aggregate_of(shard, aggregate);
  auto text = id.text();
  return {std::move(id), std::move(text), stream_term(shard, aggregate), shard};
}

RequestId request_of(AppendId id) {
  RequestId request;
  request.bytes[0] = 1;
  for (std::size_t i = 0; i != 8; ++i) request.bytes[15 - i] = static_cast<std::uint8_t>(id >> (8 * i));
  return request;
}

}  // namespace

AggregateId aggregate_of(ShardId shard, std::uint32_t aggregate) {
  return {"on" + std::to_string(shard.value), std::to_string(aggregate)};
}

std::pair<ShardId, std::uint32_t> numbers_of(const AggregateId& aggregate) {
  return {ShardId{static_cast<std::uint16_t>(std::stoul(aggregate.type.substr(2)))},
          static_cast<std::uint32_t>(std::stoul(aggregate.value))};
}

AppendId append_of(const storage::EncodedAppend& append) {
  AppendId id = 0;
  for (std::size_t i = 8; i != 16; ++i) id = id << 8 | append.request.bytes[i];
  return id;
}

actors::ShardWriters::Start writers_of(const DiskState& disk) {
  actors::ShardWriters::Start start{disk.cut, disk.watermark, {}, {}};
  for (const auto& [id, shard] : disk.shards) start.shards.push_back({id, shard.epoch, shard.covered});
  return start;
}

std::vector<storage::UnorderedAppend> unordered_of(const DiskShard& shard) {
  std::vector<storage::UnorderedAppend> unordered;
  for (auto record = shard.records.lower_bound(shard.covered); record != shard.records.end(); ++record)
    unordered.push_back(*record->second.real);
  return unordered;
}

std::shared_ptr<actors::Attempt> attempt_of(AppendId id, const Request& request) {
  auto attempt = std::make_shared<actors::Attempt>();
  attempt->ack = request.durable ? Ack::durable : Ack::ordered;
  auto& prepared = attempt->prepared;
  auto& append = prepared.append;
  append.request = request_of(id);
  append.content_hash = 0x9E3779B97F4A7C15ull * (id + 1);
  const auto index_of = [](std::vector<storage::EncodedAggregate>& among, ShardId shard, std::uint32_t aggregate,
                           bool add) -> std::optional<std::uint32_t> {
    const auto at = std::ranges::find(among, stream_term(shard, aggregate), &storage::EncodedAggregate::stream);
    if (at == among.end() && !add) return std::nullopt;
    const auto index = static_cast<std::uint32_t>(at - among.begin());
    if (at == among.end()) among.push_back(encoded(shard, aggregate));
    return index;
  };
  for (std::uint32_t i = 0; i != request.events.size(); ++i) {
    const auto& asked = request.events[i];
    storage::EncodedEvent event;
    event.id = EventId::derived(request_of(request.twin.value_or(id)), i);
    event.id_given = true;
    event.shard = asked.shard;
    if (asked.aggregate) event.aggregate = *index_of(append.aggregates, asked.shard, *asked.aggregate, true);
    event.terms_begin = static_cast<std::uint32_t>(append.terms.size());
    auto terms = asked.terms;
    std::ranges::sort(terms);
    terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
    append.terms.insert(append.terms.end(), terms.begin(), terms.end());
    if (asked.aggregate) append.terms.push_back(stream_term(asked.shard, *asked.aggregate));
    event.terms_end = static_cast<std::uint32_t>(append.terms.size());
    append.events.push_back(event);
  }
  for (const auto& expected : request.expected) {
    auto index = index_of(append.aggregates, expected.shard, expected.aggregate, false);
    if (!index)
      index = static_cast<std::uint32_t>(append.aggregates.size()) +
              *index_of(prepared.guards, expected.shard, expected.aggregate, true);
    prepared.expected.push_back({*index, expected.version});
  }
  if (const auto& taken = request.snapshot) {
    auto& snapshot = append.snapshots
                         .emplace_back(storage::EncodedSnapshot{
                             *index_of(append.aggregates, taken->shard, taken->aggregate, false), {}})
                         .snapshot;
    snapshot.aggregate = aggregate_of(taken->shard, taken->aggregate);
    if (taken->named) snapshot.version = taken->of.version;
    snapshot.payload = std::to_string(taken->of.state);
  }
  if (request.content) {
    prepared.chain = request.content->chain;
    prepared.command = request.content->append.command;
    if (prepared.command) append.command = storage::command_key(prepared.command->aggregate, prepared.command->id);
  }
  prepared.named = true;
  prepared.bytes = 100 * append.events.size();
  prepared.terms = request.conditions;
  prepared.conditions.resize(request.conditions.size());
  return attempt;
}

std::shared_ptr<actors::Attempt> part_attempt_of(const actors::Attempt& of, const actors::PartAsked& asked) {
  auto part = std::make_shared<actors::Attempt>();
  part->asked = asked;
  part->prepared.append = of.prepared.append;
  part->prepared.named = of.prepared.named;
  part->prepared.bytes = of.prepared.bytes;
  part->prepared.guards = of.prepared.guards;
  for (const auto& expected : of.prepared.expected)
    if (of.prepared.aggregate(expected.aggregate).shard == asked.shard) part->prepared.expected.push_back(expected);
  return part;
}

}  // namespace evershard::simulation
