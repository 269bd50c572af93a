// GroupStateBytes: a group's state as it is kept: compact, versioned, frozen by golden bytes.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/services/groups/group_state.hpp"

namespace evershard::actors {

/// What is kept beside the state: whose it is.
struct GroupKept {
  std::uint64_t incarnation =
      0;  ///< the seq_nr of the event that made, or last reset, the group: the state of another one is void
  std::string fork_id;  ///< of the store that wrote it
  friend bool operator==(const GroupKept&, const GroupKept&) = default;
};

class GroupStateBytes {
 public:
  static constexpr std::uint32_t schema_revision = 1;

  /// Workers and what is in flight are not kept: after a restart it is given out again, no attempt counted. Nor is what
  /// was read and never touched behind all that was: it is read again.
  ///
  /// Shape: `now`, `wall_ms`: the same moment by both clocks; a retry is kept by the latter.
  [[nodiscard]] static std::string encode(const GroupState& state, const GroupKept& kept, GroupTime now,
                                          std::int64_t wall_ms);

  struct Decoded {
    GroupState state;
    GroupKept kept;
  };
  /// A retry waits no longer than it may have waited when it was set, whatever the clock says now.
  /// Errors: corruption, invalid_argument (a newer version)
  [[nodiscard]] static Result<Decoded> decode(std::string_view bytes, const GroupSettings& settings, GroupTime now,
                                              std::int64_t wall_ms, std::uint64_t seed, std::uint64_t deliveries_from);
};

}  // namespace evershard::actors
