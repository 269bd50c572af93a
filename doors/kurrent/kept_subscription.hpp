// KeptSubscription: a persistent subscription as the store keeps it: events that define it, a snapshot of how far it
// is.

#pragma once

#include <optional>

#include "evershard/doors/kurrent/persistent_options.hpp"
#include "evershard/store/api/event_store.hpp"

namespace evershard::kurrent {

struct KeptSubscription {
  SeqNr version{};  ///< of the aggregate
  esps::KeptDefinition definition{};
  PersistentSubscription::Progress progress{};
};

/// Returns: absent: there is none, or it was deleted. `version`: of the aggregate, also then; 0: it was never there.
/// Errors: corruption, io, unavailable
[[nodiscard]] Result<std::optional<KeptSubscription>> load_subscription(EventStore& events, const AggregateId& kept_in,
                                                                        SeqNr& version);
/// Defines it, or defines it anew; absent: it is deleted.
/// Returns: the aggregate's version. Errors: version_conflict: it is not `expected` any more; those of append
[[nodiscard]] Result<SeqNr> write_subscription(EventStore& events, const AggregateId& kept_in, SeqNr expected,
                                               const std::optional<esps::KeptDefinition>& definition);
/// How far it is, to be kept.
[[nodiscard]] Snapshot snapshot_of(const AggregateId& kept_in, SeqNr version,
                                   const PersistentSubscription::Progress& progress);

}  // namespace evershard::kurrent
