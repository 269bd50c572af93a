#include "evershard/cluster/peers/peer_messages.hpp"

#include <limits>
#include <utility>

#include "evershard/protocol/messages.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/v1/cluster.pb.h"

namespace evershard::cluster {
namespace {

namespace pb = evershard::v1;
using messages::get;
using messages::put;

Refused malformed(const char* what) { return refuse(ErrorCode::corruption, std::string("a peer's message is no ") + what); }

template <class Message>
bool parse(std::string_view bytes, Message& message) {
  return bytes.size() <= std::numeric_limits<int>::max() && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

bool shard_of(std::uint32_t number, ShardId& shard) {
  shard = ShardId{static_cast<std::uint16_t>(number)};
  return number <= std::numeric_limits<std::uint16_t>::max();
}

void put_process(const NodeProcess& from, pb::NodeProcess& to) {
  to.set_node(from.node);
  to.set_incarnation(from.incarnation);
}

NodeProcess process_of(const pb::NodeProcess& from) { return {from.node(), from.incarnation()}; }

bool id_of(const std::string& bytes, EventId& id) {
  if (bytes.empty()) return true;
  if (bytes.size() != id.bytes.size()) return false;
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(id.bytes.data()));
  return true;
}

void put_id(const EventId& from, std::string& to) {
  if (from.given()) to.assign(reinterpret_cast<const char*>(from.bytes.data()), from.bytes.size());
}

void put_part_of(const sharding::PartOf& from, pb::PartOf& to) {
  put_id(from.append, *to.mutable_append());
  for (const auto& [shard, events] : from.runs) {
    auto& run = *to.add_runs();
    run.set_shard(shard.value);
    run.set_events(events);
  }
}

bool get_part_of(const pb::PartOf& from, sharding::PartOf& to) {
  if (!id_of(from.append(), to.append)) return false;
  for (const auto& run : from.runs()) {
    ShardId shard;
    if (!shard_of(run.shard(), shard)) return false;
    to.runs.emplace_back(shard, run.events());
  }
  return true;
}

// -- a node to the coordinator

void put_message(const Hello& from, pb::Hello& to) {
  put_process(from.from, *to.mutable_from());
  to.set_address(from.address);
  to.set_cut(from.cut.value);
  to.set_session(from.session);
  to.set_door(from.door);
  to.set_version(from.version);
  for (const auto& shard : from.shards) {
    auto& told = *to.add_shards();
    told.set_shard(shard.shard.value);
    told.set_epoch(shard.epoch.value);
    told.set_taken(shard.taken);
    told.set_covered(shard.covered.value);
    told.set_tail(shard.tail.value);
  }
}

bool get_message(const pb::Hello& from, Hello& to) {
  to.from = process_of(from.from());
  to.address = from.address();
  to.cut = CutNumber{from.cut()};
  to.session = from.session();
  to.door = from.door();
  to.version = from.version();
  for (const auto& told : from.shards()) {
    auto& shard = to.shards.emplace_back();
    if (!shard_of(told.shard(), shard.shard)) return false;
    shard.epoch = Epoch{told.epoch()};
    shard.taken = told.taken();
    shard.covered = ShardOffset{told.covered()};
    shard.tail = ShardOffset{told.tail()};
  }
  return true;
}

void put_message(const CutsAfter& from, pb::CutsAfter& to) {
  put_process(from.from, *to.mutable_from());
  to.set_after(from.after.value);
}

bool get_message(const pb::CutsAfter& from, CutsAfter& to) {
  to = {process_of(from.from()), CutNumber{from.after()}};
  return true;
}

void put_message(const Held& from, pb::Held& to) {
  put_process(from.from, *to.mutable_from());
  to.set_cut(from.cut.value);
  to.set_applied(from.applied.value);
}

bool get_message(const pb::Held& from, Held& to) {
  to = {process_of(from.from()), CutNumber{from.cut()}, CutNumber{from.applied()}};
  return true;
}

void put_message(const actors::WriterReport& from, pb::Report& to) {
  to.set_shard(from.report.shard.value);
  to.set_epoch(from.report.epoch.value);
  to.set_first(from.report.first.value);
  to.set_ask(from.ask);
  for (const auto& append : from.report.appends) {
    auto& reported = *to.add_appends();
    reported.set_events(append.events);
    reported.set_tentative(append.tentative);
    for (const auto& condition : append.conditions) {
      auto& terms = *reported.add_conditions();
      terms.set_from(condition.from.value);
      terms.set_everything(condition.query.everything);
      for (const auto& item : condition.query.items) {
        auto& put_item = *terms.add_items();
        put_item.mutable_types()->Add(item.types.begin(), item.types.end());
        put_item.mutable_all()->Add(item.all.begin(), item.all.end());
      }
    }
    for (const auto& event : append.terms) reported.add_terms()->mutable_terms()->Add(event.begin(), event.end());
    if (append.part) put_part_of(*append.part, *reported.mutable_part());
  }
}

bool get_message(const pb::Report& from, actors::WriterReport& to) {
  if (!shard_of(from.shard(), to.report.shard)) return false;
  to.report.epoch = Epoch{from.epoch()};
  to.report.first = ShardOffset{from.first()};
  to.ask = from.ask();
  to.report.appends.reserve(static_cast<std::size_t>(from.appends_size()));
  for (const auto& reported : from.appends()) {
    auto& append = to.report.appends.emplace_back();
    append.events = reported.events();
    append.tentative = reported.tentative();
    for (const auto& terms : reported.conditions()) {
      auto& condition = append.conditions.emplace_back();
      condition.from = GlobalPosition{terms.from()};
      condition.query.everything = terms.everything();
      for (const auto& item : terms.items()) condition.query.items.push_back({{item.types().begin(), item.types().end()}, {item.all().begin(), item.all().end()}});
    }
    for (const auto& event : reported.terms()) append.terms.emplace_back(event.terms().begin(), event.terms().end());
    if (reported.has_part() && !get_part_of(reported.part(), append.part.emplace())) return false;
  }
  return true;
}

// -- the coordinator to a node

void put_error(const Error& from, pb::Error& to) { put(from, to); }

bool get_error(const pb::Error& from, Error& to) {
  pb::Error copy = from;
  return get(copy, to).has_value();
}

void put_message(const Welcome& from, pb::Welcome& to) {
  put_process(from.to, *to.mutable_to());
  to.set_session(from.session);
  to.set_coordinator(from.coordinator.value);
  to.set_last_cut(from.last_cut.value);
  to.set_watermark(from.watermark.value);
  for (std::uint32_t s = 0; s != from.map.shard_count(); ++s) {
    const auto& owner = from.map.owner(ShardId{static_cast<std::uint16_t>(s)});
    auto& put_owner = *to.add_owners();
    put_owner.set_node(owner.node);
    put_owner.set_address(owner.address);
    put_owner.set_epoch(owner.epoch.value);
  }
  for (const auto position : from.last_positions) to.add_last_positions(position.value);
  for (const auto& refused : from.refused) {
    auto& put_refused = *to.add_refused();
    put_refused.set_shard(refused.shard.value);
    put_error(refused.error, *put_refused.mutable_error());
  }
  to.set_window_from(from.window_from.value);
  to.set_digests_wanted(from.digests_wanted);
}

bool get_message(const pb::Welcome& from, Welcome& to) {
  to.to = process_of(from.to());
  to.session = from.session();
  to.coordinator = Epoch{from.coordinator()};
  to.last_cut = CutNumber{from.last_cut()};
  to.watermark = GlobalPosition{from.watermark()};
  if (from.owners_size() > std::numeric_limits<std::uint16_t>::max()) return false;
  to.map = sharding::ShardMap(static_cast<std::uint32_t>(from.owners_size()));
  for (int s = 0; s != from.owners_size(); ++s) {
    const auto& owner = from.owners(s);
    if (owner.node() == 0) continue;
    if (!to.map.assign(ShardId{static_cast<std::uint16_t>(s)}, {owner.node(), owner.address(), Epoch{owner.epoch()}})) return false;
  }
  for (const auto position : from.last_positions()) to.last_positions.emplace_back(position);
  for (const auto& refused : from.refused()) {
    auto& shard = to.refused.emplace_back();
    if (!shard_of(refused.shard(), shard.shard) || !get_error(refused.error(), shard.error)) return false;
  }
  to.window_from = GlobalPosition{from.window_from()};
  to.digests_wanted = from.digests_wanted();
  return true;
}

void put_message(const HelloRefused& from, pb::HelloRefused& to) {
  put_process(from.to, *to.mutable_to());
  to.set_session(from.session);
  put_error(from.error, *to.mutable_error());
}

bool get_message(const pb::HelloRefused& from, HelloRefused& to) {
  to.to = process_of(from.to());
  to.session = from.session();
  return get_error(from.error(), to.error);
}

void put_message(const Opens& from, pb::Opens& to) {
  put_process(from.to, *to.mutable_to());
  to.set_coordinator(from.coordinator.value);
  to.set_shard(from.shard.value);
  to.set_epoch(from.epoch.value);
}

bool get_message(const pb::Opens& from, Opens& to) {
  to.to = process_of(from.to());
  to.coordinator = Epoch{from.coordinator()};
  to.epoch = Epoch{from.epoch()};
  return shard_of(from.shard(), to.shard);
}

void put_message(const Announce& from, pb::Announce& to) {
  sharding::encode(from.cut, *to.mutable_cut());
  to.set_window_from(from.window_from.value);
  to.set_digests_wanted(from.digests_wanted);
}

bool get_cut(const std::string& bytes, sharding::Cut& to) {
  auto cut = sharding::decode_cut(bytes);
  if (!cut) return false;
  to = std::move(*cut);
  return true;
}

bool get_message(const pb::Announce& from, Announce& to) {
  to.window_from = GlobalPosition{from.window_from()};
  to.digests_wanted = from.digests_wanted();
  return get_cut(from.cut(), to.cut);
}

void put_message(const Cuts& from, pb::Cuts& to) {
  put_process(from.to, *to.mutable_to());
  to.set_after(from.after.value);
  for (const auto& cut : from.found.cuts) sharding::encode(cut, *to.add_cuts());
  if (from.found.folded) {
    auto& state = *to.mutable_folded();
    state.set_epoch(from.found.folded->epoch.value);
    state.set_last_cut(from.found.folded->last_cut.value);
    state.set_watermark(from.found.folded->watermark.value);
    for (const auto& shard : from.found.folded->shards) {
      auto& put_shard = *state.add_shards();
      put_shard.set_epoch(shard.epoch.value);
      put_shard.set_node(shard.node);
      put_shard.set_next(shard.next.value);
      put_shard.set_last_position(shard.last_position.value);
      put_shard.set_written(shard.written.value);
      put_shard.set_folded(shard.folded.value);
    }
  }
  to.set_more(from.found.more);
  to.set_window_from(from.window_from.value);
  to.set_digests_wanted(from.digests_wanted);
}

bool get_message(const pb::Cuts& from, Cuts& to) {
  to.to = process_of(from.to());
  to.after = CutNumber{from.after()};
  for (const auto& bytes : from.cuts())
    if (!get_cut(bytes, to.found.cuts.emplace_back())) return false;
  if (from.has_folded()) {
    auto& state = to.found.folded.emplace(static_cast<std::uint32_t>(from.folded().shards_size()));
    state.epoch = Epoch{from.folded().epoch()};
    state.last_cut = CutNumber{from.folded().last_cut()};
    state.watermark = GlobalPosition{from.folded().watermark()};
    for (int s = 0; s != from.folded().shards_size(); ++s) {
      const auto& shard = from.folded().shards(s);
      auto& at = state.shards[static_cast<std::size_t>(s)];
      at.epoch = Epoch{shard.epoch()};
      at.node = shard.node();
      at.next = ShardOffset{shard.next()};
      at.last_position = GlobalPosition{shard.last_position()};
      at.written = Epoch{shard.written()};
      at.folded = CutNumber{shard.folded()};
    }
  }
  to.found.more = from.more();
  to.window_from = GlobalPosition{from.window_from()};
  to.digests_wanted = from.digests_wanted();
  return true;
}

void put_message(const ReportFrom& from, pb::ReportFrom& to) {
  to.set_shard(from.shard.value);
  to.set_epoch(from.epoch.value);
  to.set_first(from.first.value);
}

bool get_message(const pb::ReportFrom& from, ReportFrom& to) {
  to.epoch = Epoch{from.epoch()};
  to.first = ShardOffset{from.first()};
  return shard_of(from.shard(), to.shard);
}

void put_message(const CutPromised& from, pb::CutPromised& to) {
  to.set_shard(from.shard.value);
  to.set_epoch(from.epoch.value);
  to.set_ask(from.ask);
  to.set_cut(from.cut.value);
  to.set_coordinator(from.coordinator.value);
}

bool get_message(const pb::CutPromised& from, CutPromised& to) {
  to.epoch = Epoch{from.epoch()};
  to.ask = from.ask();
  to.cut = CutNumber{from.cut()};
  to.coordinator = Epoch{from.coordinator()};
  return shard_of(from.shard(), to.shard);
}

void put_message(const Members& from, pb::Members& to) {
  to.set_coordinator(from.coordinator.value);
  for (const auto& node : from.nodes) {
    auto& place = *to.add_nodes();
    place.set_node(node.node);
    place.set_address(node.address);
    place.set_door(node.door);
    place.set_down(!node.up);
    place.set_since(node.since.micros);
    place.set_version(node.version);
  }
}

bool get_message(const pb::Members& from, Members& to) {
  to.coordinator = Epoch{from.coordinator()};
  for (const auto& place : from.nodes()) to.nodes.push_back({place.node(), place.address(), place.door(), !place.down(), Timestamp{place.since()}, place.version()});
  return true;
}

template <class Message, class Value>
PeerBytes bytes_of(PeerKind kind, const Value& value) {
  Message message;
  put_message(value, message);
  return {kind, message.SerializeAsString()};
}

template <class Message, class Value, class Into>
Result<Into> value_of(std::string_view bytes, const char* what) {
  Message message;
  Value value;
  if (!parse(bytes, message) || !get_message(message, value)) return malformed(what);
  return Into(std::move(value));
}

// -- parts

bool command_lies_in(const actors::Prepared& prepared, ShardId shard) {
  return prepared.append.command.given() && prepared.append.events[prepared.append.command_event].shard == shard;
}

std::uint32_t all_aggregates(const actors::Prepared& prepared) { return static_cast<std::uint32_t>(prepared.append.aggregates.size() + prepared.guards.size()); }

storage::EncodedAggregate encoded(AggregateId id, std::uint32_t shards, const sharding::TermHasher& hasher) {
  storage::EncodedAggregate aggregate;
  aggregate.text = id.text();
  aggregate.stream = hasher.aggregate(aggregate.text);
  aggregate.shard = sharding::shard_of(sharding::stream_hash(aggregate.text), shards);
  aggregate.id = std::move(id);
  return aggregate;
}

bool get_aggregates(const google::protobuf::RepeatedPtrField<pb::AggregateId>& from, std::uint32_t shards, const sharding::TermHasher& hasher,
                    std::vector<storage::EncodedAggregate>& to) {
  for (const auto& given : from) {
    AggregateId id{given.type(), given.value()};
    if (!AggregateId::check(id)) return false;
    to.push_back(encoded(std::move(id), shards, hasher));
  }
  return true;
}

}  // namespace

// -- a node and the coordinator

PeerBytes encode(const ToCoordinator& message) {
  struct Put {
    PeerBytes operator()(const Hello& said) const { return bytes_of<pb::Hello>(PeerKind::hello, said); }
    PeerBytes operator()(const CutsAfter& said) const { return bytes_of<pb::CutsAfter>(PeerKind::cuts_after, said); }
    PeerBytes operator()(const Held& said) const { return bytes_of<pb::Held>(PeerKind::held, said); }
    PeerBytes operator()(const actors::WriterReport& said) const { return bytes_of<pb::Report>(PeerKind::report, said); }
  };
  return std::visit(Put{}, message);
}

PeerBytes encode(const ToNode& message) {
  struct Put {
    PeerBytes operator()(const Welcome& said) const { return bytes_of<pb::Welcome>(PeerKind::welcome, said); }
    PeerBytes operator()(const HelloRefused& said) const { return bytes_of<pb::HelloRefused>(PeerKind::hello_refused, said); }
    PeerBytes operator()(const Opens& said) const { return bytes_of<pb::Opens>(PeerKind::opens, said); }
    PeerBytes operator()(const Announce& said) const { return bytes_of<pb::Announce>(PeerKind::announce, said); }
    PeerBytes operator()(const Cuts& said) const { return bytes_of<pb::Cuts>(PeerKind::cuts, said); }
    PeerBytes operator()(const ReportFrom& said) const { return bytes_of<pb::ReportFrom>(PeerKind::report_from, said); }
  };
  return std::visit(Put{}, message);
}

PeerBytes encode(const CutPromised& message) { return bytes_of<pb::CutPromised>(PeerKind::cut_promised, message); }

Result<ToCoordinator> decode_to_coordinator(PeerKind kind, std::string_view bytes) {
  switch (kind) {
    case PeerKind::hello: return value_of<pb::Hello, Hello, ToCoordinator>(bytes, "hello");
    case PeerKind::cuts_after: return value_of<pb::CutsAfter, CutsAfter, ToCoordinator>(bytes, "request for cuts");
    case PeerKind::held: return value_of<pb::Held, Held, ToCoordinator>(bytes, "word of what is held");
    case PeerKind::report: return value_of<pb::Report, actors::WriterReport, ToCoordinator>(bytes, "report");
    default: return malformed("message to a coordinator");
  }
}

Result<FromCoordinator> decode_from_coordinator(PeerKind kind, std::string_view bytes) {
  switch (kind) {
    case PeerKind::welcome: return value_of<pb::Welcome, Welcome, FromCoordinator>(bytes, "welcome");
    case PeerKind::hello_refused: return value_of<pb::HelloRefused, HelloRefused, FromCoordinator>(bytes, "refusal of a hello");
    case PeerKind::opens: return value_of<pb::Opens, Opens, FromCoordinator>(bytes, "promise of an opening");
    case PeerKind::announce: return value_of<pb::Announce, Announce, FromCoordinator>(bytes, "cut");
    case PeerKind::cuts: return value_of<pb::Cuts, Cuts, FromCoordinator>(bytes, "sequence of cuts");
    case PeerKind::report_from: return value_of<pb::ReportFrom, ReportFrom, FromCoordinator>(bytes, "request for reports");
    case PeerKind::cut_promised: return value_of<pb::CutPromised, CutPromised, FromCoordinator>(bytes, "promise of a cut");
    case PeerKind::members: return value_of<pb::Members, Members, FromCoordinator>(bytes, "list of members");
    default: return malformed("message to a node");
  }
}

PeerBytes encode(const Members& message) { return bytes_of<pb::Members>(PeerKind::members, message); }

// -- node to node

std::string encode(const NodePageAsked& asked) {
  pb::NodeRead message;
  for (const auto shard : asked.shards) message.add_shards(shard.value);
  put(asked.query, *message.mutable_query());
  message.set_after(asked.after.value);
  message.set_up_to(asked.up_to.value);
  message.set_backwards(asked.direction == Direction::backwards);
  message.set_events_max(asked.events_max);
  return message.SerializeAsString();
}

Result<NodePageAsked> decode_read(std::string_view bytes) {
  pb::NodeRead message;
  NodePageAsked asked;
  if (!parse(bytes, message) || !message.has_query() || !get(*message.mutable_query(), asked.query) || !asked.query.check()) return malformed("read");
  for (const auto number : message.shards()) {
    ShardId shard;
    if (!shard_of(number, shard) || (!asked.shards.empty() && shard <= asked.shards.back())) return malformed("read: its shards ascend");
    asked.shards.push_back(shard);
  }
  asked.after = GlobalPosition{message.after()};
  asked.up_to = GlobalPosition{message.up_to()};
  asked.direction = message.backwards() ? Direction::backwards : Direction::forwards;
  asked.events_max = message.events_max();
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
  if (!parse(bytes, message) || !get(*message.mutable_options(), asked.options)) return malformed("read of an aggregate");
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
  return message.SerializeAsString();
}

Result<NodeHeadAsked> decode_head_asked(std::string_view bytes) {
  pb::NodeHead message;
  if (!parse(bytes, message)) return malformed("question for a head");
  NodeHeadAsked asked{{message.aggregate().type(), message.aggregate().value()}, GlobalPosition{message.up_to()}};
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
  if (!parse(bytes, message) || message.which() > static_cast<std::uint32_t>(NodeSnapshotsAsked::Which::all)) return malformed("question for snapshots");
  NodeSnapshotsAsked asked{{message.aggregate().type(), message.aggregate().value()}, static_cast<NodeSnapshotsAsked::Which>(message.which()), message.at(), GlobalPosition{message.up_to()}};
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
  return message.SerializeAsString();
}

Result<NodeAggregatesAsked> decode_aggregates_asked(std::string_view bytes) {
  pb::NodeAggregatesAsked message;
  NodeAggregatesAsked asked;
  if (!parse(bytes, message)) return malformed("question for aggregates");
  for (const auto number : message.shards()) {
    ShardId shard;
    if (!shard_of(number, shard) || (!asked.shards.empty() && shard <= asked.shards.back())) return malformed("question for aggregates: its shards ascend");
    asked.shards.push_back(shard);
  }
  if (message.has_type()) asked.type = message.type();
  if (message.has_after()) asked.after = AggregateId{message.after().type(), message.after().value()};
  if ((asked.type && !AggregateId::check({*asked.type, "x"})) || (asked.after && !AggregateId::check(*asked.after))) return malformed("question for aggregates");
  asked.limit = message.limit();
  asked.up_to = GlobalPosition{message.up_to()};
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
    AggregateInfo info{{row.aggregate().type(), row.aggregate().value()}, SeqNr{row.version()}, GlobalPosition{row.last_position()}, {}};
    if (!shard_of(row.shard(), info.shard)) return malformed("list of aggregates");
    aggregates.push_back(std::move(info));
  }
  return aggregates;
}

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
    put_event.mutable_terms()->Add(terms.begin(), terms.end());
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
  if (!shard_of(message.shard(), decoded.part.shard) || !get_part_of(message.part(), decoded.part.part)) return malformed("part of an append");
  decoded.part.attempt = message.attempt();
  decoded.part.try_number = message.try_number();
  if (!id_of(message.request(), append.request) || !id_of(message.command(), append.command)) return malformed("part: an id has 16 bytes");
  append.content_hash = message.content_hash();
  append.appended_at.micros = message.appended_at_us();
  if (!get_aggregates(message.aggregates(), shards, hasher, append.aggregates) || !get_aggregates(message.guards(), shards, hasher, prepared.guards))
    return malformed("part: an aggregate has a type and a value");
  if (message.events_size() == 0) return malformed("part: it has events");
  bool carried = false;
  for (const auto& given : message.events()) {
    storage::EncodedEvent event;
    if (!id_of(given.id(), event.id) || !event.id.given()) return malformed("part: an event has an id");
    event.id_given = given.id_given();
    event.shard = decoded.part.shard;
    if (given.has_aggregate()) {
      if (given.aggregate() >= append.aggregates.size() || append.aggregates[given.aggregate()].shard != decoded.part.shard) return malformed("part: an event's aggregate lies in its shard");
      event.aggregate = given.aggregate();
    }
    if (given.terms().empty()) return malformed("part: an event has a type");
    event.terms_begin = static_cast<std::uint32_t>(append.terms.size());
    append.terms.insert(append.terms.end(), given.terms().begin(), given.terms().end());
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
    if (given.aggregate() >= all_aggregates(prepared)) return malformed("part: what is expected is of one of its aggregates");
    actors::Prepared::Expected expected{given.aggregate(), {}};
    if (!get(given.version(), expected.version)) return malformed("part: an expected version");
    prepared.expected.push_back(expected);
  }
  for (auto& given : *message.mutable_snapshots()) {
    storage::EncodedSnapshot snapshot{given.aggregate(), {}};
    if (given.aggregate() >= append.aggregates.size() || !get(*given.mutable_snapshot(), snapshot.snapshot)) return malformed("part: a snapshot");
    append.snapshots.push_back(std::move(snapshot));
  }
  if (message.has_command_record() && !get(*message.mutable_command_record(), prepared.command.emplace())) return malformed("part: a command's record");
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
  if (message.kind() < pb::PartAnswer::KIND_WRITTEN || message.kind() > pb::PartAnswer::KIND_LOST) return malformed("answer to a part");
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
