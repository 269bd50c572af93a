// Intake: appends from actors, handed to the committer; its completion keeps the promise.

#pragma once

#include "evershard/actors/core/committer.hpp"
#include "evershard/protocol/messages/interfaces.hpp"

namespace evershard::actors {

/// Bounded by the committer, which answers `overloaded`. Shape: the committer outlives the actor.
messages::IntakeActor spawn_intake(caf::actor_system& system, Committer& committer);

}  // namespace evershard::actors
