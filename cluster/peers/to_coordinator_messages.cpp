// What a node tells a coordinator.

#include "evershard/cluster/peers/peer_messages.hpp"

#include "evershard/cluster/peers/peer_fields.hpp"

namespace evershard::cluster {
namespace {

namespace pb = evershard::v1;
using namespace peer_fields;

void put_message(const Hello& from, pb::Hello& to) {
  put_process(from.from, *to.mutable_from());
  to.set_address(from.address);
  to.set_cut(from.cut.value);
  to.set_session(from.session);
  to.set_door(from.door);
  to.set_version(from.version);
  to.set_gateway(from.gateway);
  to.set_zone(from.zone);
  to.set_clock_us(from.clock.micros);
  to.set_kurrent_door(from.kurrent_door);
  to.set_builds(from.builds);
  if (from.led.epoch.value != 0) put_leadership(from.led, *to.mutable_led());
  for (const auto& shard : from.shards) {
    auto& told = *to.add_shards();
    told.set_shard(shard.shard.value);
    told.set_epoch(shard.epoch.value);
    told.set_taken(shard.taken);
    told.set_covered(shard.covered.value);
    told.set_tail(shard.tail.value);
    told.set_damaged(shard.damaged);
  }
}

bool get_message(const pb::Hello& from, Hello& to) {
  to.from = process_of(from.from());
  to.address = from.address();
  to.cut = CutNumber{from.cut()};
  to.session = from.session();
  to.door = from.door();
  to.version = from.version();
  to.gateway = from.gateway();
  to.zone = from.zone();
  to.clock = Timestamp{from.clock_us()};
  to.kurrent_door = from.kurrent_door();
  to.builds = from.builds();
  if (from.has_led() && !get_leadership(from.led(), to.led)) return false;
  for (const auto& told : from.shards()) {
    auto& shard = to.shards.emplace_back();
    if (!shard_of(told.shard(), shard.shard)) return false;
    shard.epoch = Epoch{told.epoch()};
    shard.taken = told.taken();
    shard.covered = ShardOffset{told.covered()};
    shard.tail = ShardOffset{told.tail()};
    shard.damaged = told.damaged();
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
  to.set_learned(from.learned);
  to.set_full(from.full);
  to.set_clock_us(from.clock.micros);
}

void put_message(const Narrowed& from, pb::Narrowed& to) {
  put_process(from.from, *to.mutable_from());
  to.set_coordinator(from.coordinator.value);
  to.set_shard(from.shard.value);
  to.set_epoch(from.epoch.value);
  to.set_without(from.without);
  to.set_number(from.number);
}

bool get_message(const pb::Narrowed& from, Narrowed& to) {
  to.from = process_of(from.from());
  to.coordinator = Epoch{from.coordinator()};
  to.epoch = Epoch{from.epoch()};
  to.without = from.without();
  to.number = from.number();
  return shard_of(from.shard(), to.shard);
}

bool get_message(const pb::Held& from, Held& to) {
  to = {process_of(from.from()), CutNumber{from.cut()}, CutNumber{from.applied()},
        from.learned(),          from.full(),           Timestamp{from.clock_us()}};
  return true;
}

void put_message(const actors::WriterReport& from, pb::Report& to) {
  to.set_shard(from.report.shard.value);
  to.set_epoch(from.report.epoch.value);
  to.set_first(from.report.first.value);
  to.set_ask(from.ask);
  to.set_naming(from.naming);
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
    for (const auto base : append.builds_on) reported.add_builds_on(base.value);
  }
}

bool get_message(const pb::Report& from, actors::WriterReport& to) {
  if (!shard_of(from.shard(), to.report.shard)) return false;
  to.report.epoch = Epoch{from.epoch()};
  to.report.first = ShardOffset{from.first()};
  to.ask = from.ask();
  to.naming = from.naming();
  to.report.appends.reserve(static_cast<std::size_t>(from.appends_size()));
  for (const auto& reported : from.appends()) {
    auto& append = to.report.appends.emplace_back();
    append.events = reported.events();
    append.tentative = reported.tentative();
    for (const auto& terms : reported.conditions()) {
      auto& condition = append.conditions.emplace_back();
      condition.from = GlobalPosition{terms.from()};
      condition.query.everything = terms.everything();
      for (const auto& item : terms.items())
        condition.query.items.push_back(
            {{item.types().begin(), item.types().end()}, {item.all().begin(), item.all().end()}});
    }
    for (const auto& event : reported.terms()) append.terms.emplace_back(event.terms().begin(), event.terms().end());
    if (reported.has_part() && !get_part_of(reported.part(), append.part.emplace())) return false;
    for (const auto base : reported.builds_on()) append.builds_on.push_back(ShardOffset{base});
  }
  return true;
}

}  // namespace

PeerBytes encode(const ToCoordinator& message) {
  struct Put {
    PeerBytes operator()(const Hello& said) const { return bytes_of<pb::Hello>(PeerKind::hello, said, put_message); }
    PeerBytes operator()(const CutsAfter& said) const {
      return bytes_of<pb::CutsAfter>(PeerKind::cuts_after, said, put_message);
    }
    PeerBytes operator()(const Narrowed& said) const {
      return bytes_of<pb::Narrowed>(PeerKind::narrowed, said, put_message);
    }
    PeerBytes operator()(const Held& said) const { return bytes_of<pb::Held>(PeerKind::held, said, put_message); }
    PeerBytes operator()(const actors::WriterReport& said) const {
      return bytes_of<pb::Report>(PeerKind::report, said, put_message);
    }
  };
  return std::visit(Put{}, message);
}

Result<ToCoordinator> decode_to_coordinator(PeerKind kind, std::string_view bytes) {
  switch (kind) {
    case PeerKind::hello:
      return value_of<pb::Hello, Hello, ToCoordinator>(bytes, "hello", get_message);
    case PeerKind::cuts_after:
      return value_of<pb::CutsAfter, CutsAfter, ToCoordinator>(bytes, "request for cuts", get_message);
    case PeerKind::held:
      return value_of<pb::Held, Held, ToCoordinator>(bytes, "word of what is held", get_message);
    case PeerKind::narrowed:
      return value_of<pb::Narrowed, Narrowed, ToCoordinator>(bytes, "word of who counts", get_message);
    case PeerKind::report:
      return value_of<pb::Report, actors::WriterReport, ToCoordinator>(bytes, "report", get_message);
    default:
      return malformed("message to a coordinator");
  }
}

}  // namespace evershard::cluster
