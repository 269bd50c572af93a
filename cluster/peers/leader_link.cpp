#include "evershard/cluster/peers/leader_link.hpp"

#include <random>
#include <utility>

#include "evershard/cluster/link/host_and_port.hpp"
#include "evershard/cluster/peers/node_links.hpp"

namespace evershard::cluster {
namespace {

// A leader that is frozen is given up sooner than nodes give it up: by the time that they look for another, there is
// one.
constexpr std::chrono::milliseconds leader_heartbeat{250}, leader_dead_after{1'000};

}  // namespace

LinkIdentity standing_by(LinkIdentity coordinator) {
  std::random_device random;
  coordinator.node = NodeNumber(standby_numbers_from | static_cast<std::uint32_t>(random()));
  return coordinator;
}

Result<std::unique_ptr<LeaderLink>> LeaderLink::open(LinkOptions options) {
  std::unique_ptr<LeaderLink> link(new LeaderLink());
  auto* self = link.get();
  LinkHandlers handlers;
  handlers.on_session_up = [self](const LinkSessionInfo&) { self->up_ = true; };
  handlers.on_session_down = [self](const LinkSessionInfo&, const Error&) { self->up_ = false; };
  options.limits.heartbeat = leader_heartbeat;
  options.limits.dead_after = leader_dead_after;
  options.limits.redial_max = options.limits.search_max;
  link->has_tls_ = options.tls.has_value();
  auto links = Links::open(std::move(options), std::move(handlers));
  if (!links) return refuse(std::move(links).error());
  link->links_ = *std::move(links);
  return link;
}

LeaderLink::~LeaderLink() {
  if (links_) links_->stop();
}

Result<void> LeaderLink::follow(const std::optional<std::string>& address) {
  if (address == followed_) return {};
  if (followed_) links_->forget(coordinator_on_links);
  followed_ = address;
  up_ = false;
  if (!address) return {};
  const auto place = host_and_port(*address);
  if (!place)
    return refuse(ErrorCode::invalid_argument, "the leader says that it listens at \"" + *address +
                                                   "\", which is no address: see its setting advertise");
  return links_->dial({coordinator_on_links, place->host, place->port});
}

}  // namespace evershard::cluster
