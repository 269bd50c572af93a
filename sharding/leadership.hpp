// Leadership: who led the cut log under an epoch, so that two logs that went on from one copy can be told apart.

#pragma once

#include <cstddef>
#include <vector>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::sharding {

/// An epoch is a number: the copy of a log reaches the same one. The identity is drawn at random when the leadership
/// begins.
struct Leadership {
  Epoch epoch;
  EventId identity{};  ///< not given: led by a release that drew none
  friend bool operator==(const Leadership&, const Leadership&) = default;
};

/// Epochs ascend. One that is missing was led by a release that drew no identity, or is too old to be kept.
using Leaderships = std::vector<Leadership>;

inline constexpr std::size_t leaderships_kept = 256;

/// The newest one; the oldest goes where there are too many. Shape: of a newer epoch than those there are.
void add_leadership(Leaderships& to, Leadership newest);
/// The `count` newest of them.
[[nodiscard]] Leaderships newest_of(const Leaderships& all, std::size_t count);
/// The identity under that epoch; not given: nobody here knows it.
[[nodiscard]] EventId leader_of(const Leaderships& all, Epoch epoch);

/// Whether the two lists of leaderships can be of one history. An empty list can be of any history: its process is of a
/// release that does not say.
///
/// Errors: fenced: one epoch was led by two, so one of the logs is a copy that went on by itself;
///         unavailable: they have no epoch in common, so nobody can say
[[nodiscard]] Result<void> check_one_history(const Leaderships& here, const Leaderships& there);

/// Whether the two follow one coordinator: an event that the one acknowledges to the other has its place in the order
/// of both. Where one is empty they do. Of one history is not enough: who has not heard of the newest leadership yet
/// may be about to follow another one.
///
/// Errors: unavailable: not yet
[[nodiscard]] Result<void> check_one_leader(const Leaderships& here, const Leaderships& there);

}  // namespace evershard::sharding
