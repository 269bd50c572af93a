#include "evershard/api/messages/hosted_messages.hpp"

#include <utility>

namespace evershard::messages {
namespace {

void put_type(const HostedType& from, pb::HostedType& to) {
  to.set_payload_format(static_cast<std::uint32_t>(from.format));
  to.set_message(from.message);
}

HostedType type_in(const pb::HostedType& from) {
  return {static_cast<PayloadFormat>(from.payload_format()), from.message()};
}

}  // namespace

void put(const HostedKinds& from, pb::ListKindsResponse& to) {
  for (const auto& kind : from.kinds) {
    auto& told = *to.add_kinds();
    told.set_type(kind.type);
    put_type(kind.state, *told.mutable_state());
    for (const auto& command : kind.commands) {
      auto& one = *told.add_commands();
      one.set_name(command.name);
      put_type(command.type, *one.mutable_type());
      if (command.replies) put_type(command.reply, *one.mutable_reply());
      one.set_query(command.query);
    }
    for (const auto& event : kind.events) {
      auto& one = *told.add_events();
      one.set_name(event.name);
      put_type(event.type, *one.mutable_type());
      one.set_old(event.old);
    }
  }
  to.set_descriptors(from.descriptors);
}

void get(pb::ListKindsResponse& from, HostedKinds& to) {
  for (const auto& told : from.kinds()) {
    auto& kind = to.kinds.emplace_back();
    kind.type = told.type();
    kind.state = type_in(told.state());
    for (const auto& one : told.commands())
      kind.commands.push_back({one.name(), type_in(one.type()), type_in(one.reply()), one.has_reply(), one.query()});
    for (const auto& one : told.events()) kind.events.push_back({one.name(), type_in(one.type()), one.old()});
  }
  to.descriptors = std::move(*from.mutable_descriptors());
}

}  // namespace evershard::messages
