#include "evershard/compat/kurrent/discovery_services.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "evershard/compat/kurrent/event_form.hpp"

namespace evershard::kurrent {
namespace {

namespace features = ::event_store::client::server_features;
namespace gossip = ::event_store::client::gossip;

/// The version of theirs whose calls are served: clients choose by it.
constexpr const char* speaks_version = "26.1.0";

struct Offered {
  const char* service;
  const char* method;
  bool by_kind = false;  ///< of streams and of `$all`: clients ask for each
};

constexpr const char* persistent_service = "event_store.client.persistent_subscriptions.persistentsubscriptions";
/// Where there are persistent subscriptions.
constexpr std::array<Offered, 8> offered_persistent{{
    {persistent_service, "create", true},
    {persistent_service, "update", true},
    {persistent_service, "delete", true},
    {persistent_service, "read", true},
    {persistent_service, "getinfo", true},
    {persistent_service, "replayparked", true},
    {persistent_service, "list", true},
    {persistent_service, "restartsubsystem"},
}};

constexpr std::array<Offered, 8> offered{{
    {"event_store.client.streams.streams", "read"},
    {"event_store.client.streams.streams", "append"},
    {"event_store.client.streams.streams", "batchappend"},
    {"event_store.client.streams.streams", "delete"},
    {"event_store.client.streams.streams", "tombstone"},
    {"event_store.client.gossip.gossip", "read"},
    {"kurrentdb.protocol.v2.streams.streamsservice", "appendsession"},
    {"kurrentdb.protocol.v2.streams.streamsservice", "appendrecords"},
}};

struct Place {
  std::string host{};
  std::uint32_t port = 0;
};

Place place_in(std::string_view text) {
  Place place;
  const auto colon = text.rfind(':');
  place.host = text.substr(0, colon);
  if (place.host.size() > 2 && place.host.front() == '[') place.host = place.host.substr(1, place.host.size() - 2);
  if (colon != std::string_view::npos) std::from_chars(text.data() + colon + 1, text.data() + text.size(), place.port);
  return place;
}

EventId instance_of(std::uint32_t node) {
  EventId id;
  id.bytes = {'e', 'v', 'e', 'r', 's', 'h', 'a', 'r', 'd', 0, 0, 0};
  for (std::size_t i = 0; i < 4; ++i) id.bytes[12 + i] = static_cast<std::uint8_t>(node >> (24 - 8 * i));
  return id;
}

/// Asked by whoever may connect: clients ask before they show who they are.
template <class Response>
grpc::ServerUnaryReactor* answer_anyone(door::Calls& calls, serving::MethodMetrics& counted,
                                        grpc::CallbackServerContext* context, grpc::ByteBuffer* out,
                                        const Response& response) {
  door::UnderWay here(calls, counted);
  auto* reactor = context->DefaultReactor();
  if (calls.closing) {
    reactor->Finish(here.refused(door::calls_stopping()));
    return reactor;
  }
  *out = door::bytes_of(response);
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace

gossip::ClusterInfo members_of(const std::string& asked, const ClusterView* cluster, Timestamp now) {
  gossip::ClusterInfo info;
  const auto add = [&](std::uint32_t node, const Place& place, bool leads, bool alive, bool reads_only) {
    auto& member = *info.add_members();
    put_id(instance_of(node), false, *member.mutable_instance_id());
    member.set_time_stamp(now.micros * ticks_of_a_micro);
    member.set_state(!alive       ? gossip::MemberInfo::Shutdown
                     : leads      ? gossip::MemberInfo::Leader
                     : reads_only ? gossip::MemberInfo::ReadOnlyReplica
                                  : gossip::MemberInfo::Follower);
    member.set_is_alive(alive);
    member.mutable_http_end_point()->set_address(place.host);
    member.mutable_http_end_point()->set_port(place.port);
  };
  bool led = false;
  if (cluster != nullptr) {
    for (const auto& node : cluster->nodes) {
      if (node.kurrent_door.empty()) continue;
      const bool alive = node.up || node.node == cluster->self;
      // Any node takes any request: the first that is there is as good a leader as others.
      const bool leads = alive && !node.gateway && !led;
      led = led || leads;
      add(node.node, place_in(node.kurrent_door), leads, alive, node.gateway);
    }
  }
  if (!led) {
    info.clear_members();
    add(1, place_in(asked), true, true, false);
  }
  return info;
}

ServerFeaturesService::ServerFeaturesService(std::shared_ptr<Kurrent> kurrent)
    : ServiceOf(kurrent->calls), kurrent_(std::move(kurrent)) {
  unary("GetSupportedMethods", [this](Counted& counted, Context* context, const Bytes*, Bytes* out) {
    features::SupportedMethods supported;
    supported.set_event_store_server_version(speaks_version);
    const auto add = [&](const Offered& each) {
      auto& added = *supported.add_methods();
      added.set_service_name(each.service);
      added.set_method_name(each.method);
      if (!each.by_kind) return;
      for (const auto* kind : {"stream", "all"}) added.add_features(kind);
    };
    for (const auto& each : offered) add(each);
    if (kurrent_->persistent) {
      for (const auto& each : offered_persistent) add(each);
    }
    return answer_anyone(calls_, counted, context, out, supported);
  });
}

GossipService::GossipService(std::shared_ptr<Kurrent> kurrent)
    : ServiceOf(kurrent->calls), kurrent_(std::move(kurrent)) {
  unary({"Read", "GossipRead"}, [this](Counted& counted, Context* context, const Bytes*, Bytes* out) {
    const auto authority = context->ExperimentalGetAuthority();
    const std::string asked(authority.data(), authority.size());
    const auto* cluster = calls_.served.cluster;
    const auto view = cluster != nullptr ? std::optional(cluster->view()) : std::nullopt;
    return answer_anyone(calls_, counted, context, out, members_of(asked, view ? &*view : nullptr, Timestamp::now()));
  });
}

}  // namespace evershard::kurrent
