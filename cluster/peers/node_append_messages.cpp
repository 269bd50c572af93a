// Appends and parts of them that one node gives to another, and what answers them.

#include "evershard/cluster/peers/peer_messages.hpp"

#include <utility>

#include "evershard/cluster/peers/peer_fields.hpp"
#include "evershard/protocol/messages.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::cluster {
namespace {

namespace pb = evershard::v1;
using namespace peer_fields;
using messages::get;
using messages::put;

bool command_lies_in(const actors::Prepared& prepared, ShardId shard) {
  return prepared.append.command.given() && prepared.append.events[prepared.append.command_event].shard == shard;
}

std::uint32_t all_aggregates(const actors::Prepared& prepared) {
  return static_cast<std::uint32_t>(prepared.append.aggregates.size() + prepared.guards.size());
}

storage::EncodedAggregate encoded(AggregateId id, std::uint32_t shards, const sharding::TermHasher& hasher) {
  storage::EncodedAggregate aggregate;
  aggregate.text = id.text();
  aggregate.stream = hasher.aggregate(aggregate.text);
  aggregate.shard = sharding::shard_of(sharding::stream_hash(aggregate.text), shards);
  aggregate.id = std::move(id);
  return aggregate;
}

bool get_aggregates(const google::protobuf::RepeatedPtrField<pb::AggregateId>& from, std::uint32_t shards,
                    const sharding::TermHasher& hasher, std::vector<storage::EncodedAggregate>& to) {
  for (const auto& given : from) {
    AggregateId id{given.type(), given.value()};
    if (!AggregateId::check(id)) return false;
    to.push_back(encoded(std::move(id), shards, hasher));
  }
  return true;
}

}  // namespace

std::string encode_forward(const Append& append) {
  pb::ForwardAppend message;
  put(append, *message.mutable_append());
  message.set_durable(append.ack == Ack::durable);
  return message.SerializeAsString();
}

Result<Append> decode_forward(std::string_view bytes) {
  pb::ForwardAppend message;
  Append append;
  if (!parse(bytes, message) || !get(*message.mutable_append(), append)) return malformed("append");
  append.ack = message.durable() ? Ack::durable : Ack::ordered;
  return append;
}

std::string encode(const Appended& appended) {
  pb::AppendResponse message;
  put(appended, message);
  return message.SerializeAsString();
}

Result<Appended> decode_appended(std::string_view bytes) {
  pb::AppendResponse message;
  Appended appended;
  if (!parse(bytes, message) || !get(message, appended)) return malformed("answer to an append");
  return appended;
}

std::string encode_part(const actors::Attempt& of, const actors::PartAsked& part) {
  const auto& prepared = of.prepared;
  const auto& append = prepared.append;
  pb::Part message;
  message.set_shard(part.shard.value);
  put_part_of(part.part, *message.mutable_part());
  message.set_attempt(part.attempt);
  message.set_try_number(part.try_number);
  put_id(append.request, *message.mutable_request());
  message.set_content_hash(append.content_hash);
  for (std::size_t i = 0; i != append.events.size(); ++i) {
    const auto& event = append.events[i];
    if (event.shard != part.shard) continue;
    auto& put_event = *message.add_events();
    put_id(event.id, *put_event.mutable_id());
    put_event.set_id_given(event.id_given);
    if (event.aggregate != storage::EncodedEvent::no_aggregate) put_event.set_aggregate(event.aggregate);
    const auto terms = append.terms_of(event);
    const bool live = event.state == EventState::live;
    (live ? put_event.mutable_terms() : put_event.mutable_terms_of_gone())->Add(terms.begin(), terms.end());
    put_event.set_state(static_cast<std::uint32_t>(event.state));
    put_event.set_body(std::string(append.body_of(event)));
    put_event.set_body_hash(event.body_hash);
    put_event.set_command(append.command_of(i).given());
  }
  for (const auto& aggregate : append.aggregates) put(aggregate.id, *message.add_aggregates());
  for (const auto& guard : prepared.guards) put(guard.id, *message.add_guards());
  for (const auto& expected : prepared.expected) {
    auto& put_expected = *message.add_expected();
    put_expected.set_aggregate(expected.aggregate);
    Expectation whole{prepared.aggregate(expected.aggregate).id, expected.version};
    pb::AppendRequest carrier;  // the codec's own words for a version
    Append one;
    one.expectations.push_back(whole);
    messages::put_without_events(one, carrier);
    *put_expected.mutable_version() = carrier.expectations(0).version();
  }
  for (const auto& snapshot : append.snapshots) {
    if (append.aggregates[snapshot.aggregate].shard != part.shard) continue;
    auto& put_snapshot = *message.add_snapshots();
    put_snapshot.set_aggregate(snapshot.aggregate);
    put(snapshot.snapshot, *put_snapshot.mutable_snapshot());
  }
  put_id(append.command, *message.mutable_command());
  if (prepared.command && command_lies_in(prepared, part.shard)) {
    auto& record = *message.mutable_command_record();
    put(prepared.command->aggregate, *record.mutable_aggregate());
    record.set_id(prepared.command->id);
  }
  message.set_appended_at_us(append.appended_at.micros);
  message.set_named(prepared.named);
  message.set_bytes(prepared.bytes);
  message.set_chain_writer(prepared.chain.writer);
  message.set_chain_follows(prepared.chain.follows);
  return message.SerializeAsString();
}

Result<PartMessage> decode_part(std::string_view bytes, std::uint32_t shards, const sharding::TermHasher& hasher) {
  pb::Part message;
  if (!parse(bytes, message)) return malformed("part of an append");
  PartMessage decoded{std::make_shared<actors::Attempt>(), {}};
  auto& prepared = decoded.of->prepared;
  auto& append = prepared.append;
  if (!shard_of(message.shard(), decoded.part.shard) || !get_part_of(message.part(), decoded.part.part))
    return malformed("part of an append");
  decoded.part.attempt = message.attempt();
  decoded.part.try_number = message.try_number();
  if (!id_of(message.request(), append.request) || !id_of(message.command(), append.command))
    return malformed("part: an id has 16 bytes");
  append.content_hash = message.content_hash();
  append.appended_at.micros = message.appended_at_us();
  if (!get_aggregates(message.aggregates(), shards, hasher, append.aggregates) ||
      !get_aggregates(message.guards(), shards, hasher, prepared.guards))
    return malformed("part: an aggregate has a type and a value");
  if (message.events_size() == 0) return malformed("part: it has events");
  bool carried = false;
  for (const auto& given : message.events()) {
    storage::EncodedEvent event;
    if (!id_of(given.id(), event.id) || !event.id.given()) return malformed("part: an event has an id");
    event.id_given = given.id_given();
    event.shard = decoded.part.shard;
    if (given.has_aggregate()) {
      if (given.aggregate() >= append.aggregates.size() ||
          append.aggregates[given.aggregate()].shard != decoded.part.shard)
        return malformed("part: an event's aggregate lies in its shard");
      event.aggregate = given.aggregate();
    }
    if (given.state() > static_cast<std::uint32_t>(EventState::erased))
      return malformed("part: an event is live, removed or erased");
    event.state = static_cast<EventState>(given.state());
    const auto& terms = event.state == EventState::live ? given.terms() : given.terms_of_gone();
    if (terms.empty()) return malformed("part: an event has a type");
    event.terms_begin = static_cast<std::uint32_t>(append.terms.size());
    append.terms.insert(append.terms.end(), terms.begin(), terms.end());
    event.terms_end = static_cast<std::uint32_t>(append.terms.size());
    event.body_begin = static_cast<std::uint32_t>(append.bodies.size());
    append.bodies += given.body();
    event.body_end = static_cast<std::uint32_t>(append.bodies.size());
    event.body_hash = given.body_hash();
    if (given.command()) {
      append.command_event = static_cast<std::uint32_t>(append.events.size());
      carried = true;
    }
    append.events.push_back(event);
  }
  if (!carried) append.command = EventId{};  // its record lies in another shard
  for (const auto& given : message.expected()) {
    if (given.aggregate() >= all_aggregates(prepared))
      return malformed("part: what is expected is of one of its aggregates");
    actors::Prepared::Expected expected{given.aggregate(), {}};
    if (!get(given.version(), expected.version)) return malformed("part: an expected version");
    prepared.expected.push_back(expected);
  }
  for (auto& given : *message.mutable_snapshots()) {
    storage::EncodedSnapshot snapshot{given.aggregate(), {}};
    if (given.aggregate() >= append.aggregates.size() || !get(*given.mutable_snapshot(), snapshot.snapshot))
      return malformed("part: a snapshot");
    append.snapshots.push_back(std::move(snapshot));
  }
  if (message.has_command_record() && !get(*message.mutable_command_record(), prepared.command.emplace()))
    return malformed("part: a command's record");
  prepared.named = message.named();
  prepared.bytes = message.bytes();
  prepared.chain = {message.chain_writer(), message.chain_follows()};
  return decoded;
}

std::string encode(const actors::PartAnswer& answer) {
  pb::PartAnswer message;
  message.set_attempt(answer.attempt);
  message.set_try_number(answer.try_number);
  message.set_shard(answer.shard.value);
  message.set_kind(static_cast<pb::PartAnswer::Kind>(static_cast<int>(answer.kind) + 1));
  message.set_first(answer.first.value);
  for (const auto& version : answer.versions) {
    auto& put_version = *message.add_versions();
    put(version.aggregate, *put_version.mutable_aggregate());
    put_version.set_version(version.version.value);
  }
  if (!answer.error.what.empty()) put_error(answer.error, *message.mutable_error());
  message.set_rests_on(answer.rests_on.value);
  return message.SerializeAsString();
}

Result<actors::PartAnswer> decode_part_answer(std::string_view bytes) {
  pb::PartAnswer message;
  actors::PartAnswer answer;
  if (!parse(bytes, message) || !shard_of(message.shard(), answer.shard)) return malformed("answer to a part");
  if (message.kind() < pb::PartAnswer::KIND_WRITTEN || message.kind() > pb::PartAnswer::KIND_LOST)
    return malformed("answer to a part");
  answer.attempt = message.attempt();
  answer.try_number = message.try_number();
  answer.kind = static_cast<actors::PartAnswer::Kind>(static_cast<int>(message.kind()) - 1);
  answer.first = ShardOffset{message.first()};
  for (auto& given : *message.mutable_versions())
    if (!get(given, answer.versions.emplace_back())) return malformed("answer to a part");
  if (message.has_error() && !get_error(message.error(), answer.error)) return malformed("answer to a part");
  answer.rests_on = GlobalPosition{message.rests_on()};
  return answer;
}

}  // namespace evershard::cluster
