// What a coordinator tells a node.

#include "evershard/cluster/peers/peer_messages.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "evershard/cluster/peers/peer_fields.hpp"

namespace evershard::cluster {
namespace {

namespace pb = evershard::v1;
using namespace peer_fields;

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
  for (const auto& set : from.replicas) put_replicas(set, *to.add_replicas());
  for (const auto& refused : from.refused) {
    auto& put_refused = *to.add_refused();
    put_refused.set_shard(refused.shard.value);
    put_error(refused.error, *put_refused.mutable_error());
  }
  to.set_window_from(from.window_from.value);
  to.set_digests_wanted(from.digests_wanted);
  to.set_builds(from.builds);
  for (const auto& led : from.leaderships) put_leadership(led, *to.add_leaderships());
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
    if (!to.map.assign(ShardId{static_cast<std::uint16_t>(s)}, {owner.node(), owner.address(), Epoch{owner.epoch()}}))
      return false;
  }
  for (const auto position : from.last_positions()) to.last_positions.emplace_back(position);
  for (const auto& set : from.replicas())
    if (!get_replicas(set, to.replicas.emplace_back())) return false;
  for (const auto& refused : from.refused()) {
    auto& shard = to.refused.emplace_back();
    if (!shard_of(refused.shard(), shard.shard) || !get_error(refused.error(), shard.error)) return false;
  }
  to.window_from = GlobalPosition{from.window_from()};
  to.digests_wanted = from.digests_wanted();
  to.builds = from.builds();
  for (const auto& led : from.leaderships())
    if (!get_leadership(led, to.leaderships.emplace_back())) return false;
  return std::ranges::is_sorted(to.leaderships, {}, &sharding::Leadership::epoch);
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
  put_id(from.leader, *to.mutable_leader());
}

bool get_message(const pb::Opens& from, Opens& to) {
  to.to = process_of(from.to());
  to.coordinator = Epoch{from.coordinator()};
  to.epoch = Epoch{from.epoch()};
  return shard_of(from.shard(), to.shard) && id_of(from.leader(), to.leader);
}

void put_message(const Announce& from, pb::Announce& to) {
  sharding::encode(from.cut, *to.mutable_cut());
  to.set_window_from(from.window_from.value);
  to.set_digests_wanted(from.digests_wanted);
  to.set_builds(from.builds);
  put_id(from.leader, *to.mutable_leader());
}

bool get_cut(const std::string& bytes, sharding::Cut& to) {
  auto cut = sharding::decode_cut(bytes);
  if (!cut) return false;  // the message is malformed, which the caller says
  to = std::move(*cut);
  return true;
}

bool get_message(const pb::Announce& from, Announce& to) {
  to.window_from = GlobalPosition{from.window_from()};
  to.digests_wanted = from.digests_wanted();
  to.builds = from.builds();
  return id_of(from.leader(), to.leader) && get_cut(from.cut(), to.cut);
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
      if (!shard.replicas.nodes.empty()) put_replicas(shard.replicas, *put_shard.mutable_replicas());
    }
  }
  to.set_more(from.found.more);
  to.set_window_from(from.window_from.value);
  to.set_digests_wanted(from.digests_wanted);
  put_id(from.leader, *to.mutable_leader());
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
      at.folded = ShardOffset{shard.folded()};
      if (shard.has_replicas() && !get_replicas(shard.replicas(), at.replicas)) return false;
    }
  }
  to.found.more = from.more();
  to.window_from = GlobalPosition{from.window_from()};
  to.digests_wanted = from.digests_wanted();
  return id_of(from.leader(), to.leader);
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

void put_message(const Narrow& from, pb::Narrow& to) {
  put_process(from.to, *to.mutable_to());
  to.set_coordinator(from.coordinator.value);
  to.set_shard(from.shard.value);
  to.set_epoch(from.epoch.value);
  to.set_without(from.without);
  to.set_number(from.number);
}

bool get_message(const pb::Narrow& from, Narrow& to) {
  to.to = process_of(from.to());
  to.coordinator = Epoch{from.coordinator()};
  to.epoch = Epoch{from.epoch()};
  to.without = from.without();
  to.number = from.number();
  return shard_of(from.shard(), to.shard);
}

void put_message(const TellAgain& from, pb::TellAgain& to) { put_process(from.to, *to.mutable_to()); }

bool get_message(const pb::TellAgain& from, TellAgain& to) {
  to.to = process_of(from.to());
  return true;
}

void put_message(const CutPromised& from, pb::CutPromised& to) {
  to.set_shard(from.shard.value);
  to.set_epoch(from.epoch.value);
  to.set_ask(from.ask);
  to.set_cut(from.cut.value);
  to.set_coordinator(from.coordinator.epoch.value);
  put_id(from.coordinator.identity, *to.mutable_leader());
}

bool get_message(const pb::CutPromised& from, CutPromised& to) {
  to.epoch = Epoch{from.epoch()};
  to.ask = from.ask();
  to.cut = CutNumber{from.cut()};
  to.coordinator.epoch = Epoch{from.coordinator()};
  return shard_of(from.shard(), to.shard) && id_of(from.leader(), to.coordinator.identity);
}

void put_message(const Members& from, pb::Members& to) {
  to.set_coordinator(from.coordinator.value);
  to.set_naming(from.naming);
  for (const auto& process : from.processes) put_process(process, *to.add_processes());
  for (const auto& node : from.nodes) {
    auto& place = *to.add_nodes();
    place.set_node(node.node);
    place.set_address(node.address);
    place.set_door(node.door);
    place.set_gateway(node.gateway);
    place.set_down(!node.up);
    place.set_since(node.since.micros);
    place.set_version(node.version);
    place.set_kurrent_door(node.kurrent_door);
  }
}

bool get_message(const pb::Members& from, Members& to) {
  to.coordinator = Epoch{from.coordinator()};
  to.naming = from.naming();
  for (const auto& process : from.processes()) to.processes.push_back(process_of(process));
  for (const auto& place : from.nodes())
    to.nodes.push_back({place.node(), place.address(), place.door(), !place.down(), Timestamp{place.since()},
                        place.version(), place.gateway(), place.kurrent_door()});
  return true;
}

}  // namespace

PeerBytes encode(const ToNode& message) {
  struct Put {
    PeerBytes operator()(const Welcome& said) const {
      return bytes_of<pb::Welcome>(PeerKind::welcome, said, put_message);
    }
    PeerBytes operator()(const HelloRefused& said) const {
      return bytes_of<pb::HelloRefused>(PeerKind::hello_refused, said, put_message);
    }
    PeerBytes operator()(const Opens& said) const { return bytes_of<pb::Opens>(PeerKind::opens, said, put_message); }
    PeerBytes operator()(const Announce& said) const {
      return bytes_of<pb::Announce>(PeerKind::announce, said, put_message);
    }
    PeerBytes operator()(const Cuts& said) const { return bytes_of<pb::Cuts>(PeerKind::cuts, said, put_message); }
    PeerBytes operator()(const ReportFrom& said) const {
      return bytes_of<pb::ReportFrom>(PeerKind::report_from, said, put_message);
    }
    PeerBytes operator()(const Narrow& said) const { return bytes_of<pb::Narrow>(PeerKind::narrow, said, put_message); }
    PeerBytes operator()(const TellAgain& said) const {
      return bytes_of<pb::TellAgain>(PeerKind::tell_again, said, put_message);
    }
  };
  return std::visit(Put{}, message);
}

PeerBytes encode(const CutPromised& message) {
  return bytes_of<pb::CutPromised>(PeerKind::cut_promised, message, put_message);
}

Result<FromCoordinator> decode_from_coordinator(PeerKind kind, std::string_view bytes) {
  switch (kind) {
    case PeerKind::welcome:
      return value_of<pb::Welcome, Welcome, FromCoordinator>(bytes, "welcome", get_message);
    case PeerKind::hello_refused:
      return value_of<pb::HelloRefused, HelloRefused, FromCoordinator>(bytes, "refusal of a hello", get_message);
    case PeerKind::opens:
      return value_of<pb::Opens, Opens, FromCoordinator>(bytes, "promise of an opening", get_message);
    case PeerKind::announce:
      return value_of<pb::Announce, Announce, FromCoordinator>(bytes, "cut", get_message);
    case PeerKind::cuts:
      return value_of<pb::Cuts, Cuts, FromCoordinator>(bytes, "sequence of cuts", get_message);
    case PeerKind::report_from:
      return value_of<pb::ReportFrom, ReportFrom, FromCoordinator>(bytes, "request for reports", get_message);
    case PeerKind::narrow:
      return value_of<pb::Narrow, Narrow, FromCoordinator>(bytes, "request of who is to count", get_message);
    case PeerKind::tell_again:
      return value_of<pb::TellAgain, TellAgain, FromCoordinator>(bytes, "request to say hello", get_message);
    case PeerKind::cut_promised:
      return value_of<pb::CutPromised, CutPromised, FromCoordinator>(bytes, "promise of a cut", get_message);
    case PeerKind::members:
      return value_of<pb::Members, Members, FromCoordinator>(bytes, "list of members", get_message);
    default:
      return malformed("message to a node");
  }
}

PeerBytes encode(const Members& message) { return bytes_of<pb::Members>(PeerKind::members, message, put_message); }

}  // namespace evershard::cluster
