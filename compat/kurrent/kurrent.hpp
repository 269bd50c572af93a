// Kurrent: what the services of KurrentDB's protocol stand on, made once a door.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "evershard/compat/kurrent/followed_states.hpp"
#include "evershard/compat/kurrent/kurrent_door.hpp"
#include "evershard/compat/kurrent/stream_writes.hpp"
#include "evershard/doors/grpc/calls.hpp"

namespace evershard::kurrent {

class PersistentSubscriptions;

/// Owner: the services.
struct Kurrent {
  Kurrent(door::Calls& c, KurrentOptions o)
      : calls(c),
        events(c.served.all_names != nullptr ? *c.served.all_names : c.served.store),
        options(std::move(o)),
        states(events),
        writes(c, events, states, options.others_write) {}

  door::Calls& calls;
  EventStore& events;  ///< with names that begin with `$`
  const KurrentOptions options;
  FollowedStates states;
  StreamWrites writes;
  std::shared_ptr<PersistentSubscriptions> persistent{};  ///< of a door
};

}  // namespace evershard::kurrent
