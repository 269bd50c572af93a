// HostedKind: one kind of aggregate with the options it is hosted with; what its entities on a shard share.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "evershard/actors/entity/entity_counters.hpp"
#include "evershard/actors/entity/entity_options.hpp"
#include "evershard/actors/entity/jitter.hpp"
#include "evershard/actors/entity/recent_commands.hpp"
#include "evershard/actors/model/kind.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::actors {

struct HostedKind {
  std::shared_ptr<const AggregateKind> kind;
  EntityOptions options{};
  Limits limits{};  ///< of the store
};

/// What all entities of a shard share.
struct EntityShare {
  EntityCounters counters{};
  RecentCommands recent;
  Jitter jitter;

  EntityShare(std::size_t recent_ids_max, std::uint64_t seed) : recent(recent_ids_max), jitter(seed) {}
};

/// A snapshot of a state, by the kind's policy.
/// Errors: what encoding failed with; too_large and the like: it would be refused
[[nodiscard]] Result<Snapshot> snapshot_of(const HostedKind& hosted, const AggregateId& aggregate,
                                           const AnyState& state, SeqNr version);

}  // namespace evershard::actors
