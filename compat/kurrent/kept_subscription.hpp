// KeptSubscription: a persistent subscription as the store keeps it: events that define it, a snapshot of how far it
// is.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "evershard/api/event_store.hpp"
#include "evershard/compat/kurrent/persistent_options.hpp"

namespace evershard::kurrent {

struct KeptSubscription {
  SeqNr version{};  ///< of the aggregate
  esps::KeptDefinition definition{};
  PersistentSubscription::Progress progress{};
  bool counts_links = false;  ///< of `$ce-` and `$et-`: kept by a release that counted the links
};

/// Returns: absent: there is none, or it was deleted. `version`: of the aggregate, also then; 0: it was never there.
/// Errors: corruption, io, unavailable
[[nodiscard]] Result<std::optional<KeptSubscription>> load_subscription(EventStore& events, const AggregateId& kept_in,
                                                                        SeqNr& version);
/// Of a derived stream that was kept by a release that counted its links: every number becomes the one that follows
/// from the event's position. Reads the stream as far as the place lies, once: what is kept next has the numbers.
/// Errors: those of reading
[[nodiscard]] Result<void> number_by_positions(EventStore& events, KeptSubscription& kept);
/// Settles how far it is in the store as it is now: KeptPlace::settle(). Where the place does not stand, what is kept
/// of another history is forgotten. Returns: what is to be said of that; empty: it stands. Errors: those of reading
[[nodiscard]] Result<std::string> settle_progress(EventStore& events, KeptSubscription& kept, std::string_view fork);
/// Defines it, or defines it anew; absent: it is deleted.
/// Returns: the aggregate's version. Errors: version_conflict: it is not `expected` any more; those of append
[[nodiscard]] Result<SeqNr> write_subscription(EventStore& events, const AggregateId& kept_in, SeqNr expected,
                                               const std::optional<esps::KeptDefinition>& definition);
/// How far it is, to be kept.
[[nodiscard]] Snapshot snapshot_of(const AggregateId& kept_in, SeqNr version,
                                   const PersistentSubscription::Progress& progress);

}  // namespace evershard::kurrent
