// link_broker: the hub as an actor of CAF's middleman, which carries the connections.

#pragma once

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <future>
#include <memory>

#include "evershard/cluster/link/link_hub.hpp"

namespace evershard::cluster {

/// What the broker shares with the threads around it.
struct LinkShared {
  LinkOptions options;
  LinkHandlers handlers;
  LinkBoard board;
  std::function<void(NodeNumber, SessionNumber, bool)> gone;
  std::weak_ptr<LinkReturns> returns;
  std::unique_ptr<LinkInbox> inbox;
  std::atomic<std::size_t> inbox_calls{0};
  std::atomic<std::size_t> inbox_bytes{0};
  std::promise<void> ended;
};

[[nodiscard]] caf::actor spawn_link_broker(caf::actor_system& system, std::shared_ptr<LinkShared> shared);
/// Look into the inbox. From any thread.
void wake_link_broker(const caf::actor& broker);
/// Ends sessions, connections and the actor; LinkShared::ended says when.
void stop_link_broker(const caf::actor& broker);

}  // namespace evershard::cluster
