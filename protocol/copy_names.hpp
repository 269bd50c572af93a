// The aggregates in which a copy keeps how far it is, `$copy-NAME`: events of its runs, and its checkpoint as a
// snapshot.

#pragma once

#include <algorithm>
#include <string_view>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/append.hpp"

namespace evershard {

inline constexpr std::string_view copy_type = "$copy";

[[nodiscard]] inline bool is_of_copy(const AggregateId& aggregate) { return aggregate.type == copy_type; }

/// Whether the append writes a checkpoint of a copy, as an event or as a snapshot.
[[nodiscard]] inline bool writes_of_copy(const Append& append) {
  return std::ranges::any_of(append.events,
                             [](const Event& event) { return event.aggregate && is_of_copy(*event.aggregate); }) ||
         std::ranges::any_of(append.snapshots, [](const Snapshot& snapshot) { return is_of_copy(snapshot.aggregate); });
}

}  // namespace evershard
