// The newest of an aggregate's snapshots that can be opened.

#pragma once

#include <optional>
#include <utility>

#include "evershard/services/erasure/sealing.hpp"

namespace evershard::cluster {

/// `older`: gives the snapshot before one whose key was destroyed, since a destroyed key hides its snapshot. Errors: as
/// of Sealing::open, and of `older`
template <class Older>
Result<std::optional<RecordedSnapshot>> opened_snapshot(const Sealing& sealing,
                                                        Result<std::optional<RecordedSnapshot>> found,
                                                        const Older& older) {
  while (found && *found) {
    const auto there = sealing.open(**found);
    if (!there) return refuse(there.error());
    if (*there) break;
    found = older(std::as_const(**found));
  }
  return found;
}

}  // namespace evershard::cluster
