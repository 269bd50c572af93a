// Reader actor: pages for other actors, off the writers' path.

#pragma once

#include "evershard/protocol/messages/interfaces.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::actors {

/// A thread of its own, since reading blocks. Shape: the store outlives the actor.
messages::ReaderActor spawn_reader(caf::actor_system& system, const storage::Store& store);

}  // namespace evershard::actors
