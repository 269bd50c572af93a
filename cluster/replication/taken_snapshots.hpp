// What becomes of snapshots that come with entries of a row log, and of those that are here.

#pragma once

#include <cstdint>
#include <optional>

#include "evershard/protocol/numbers.hpp"

namespace evershard::cluster {

/// Who sent a part of a row log.
enum class RowLogBy : std::uint8_t {
  writer,
  replica,       ///< this node writes the shard, and asks for what a quorum may have had
  replica_late,  ///< it has asked a quorum before: nobody was answered
};

/// Whether an aggregate's snapshot that a replica has takes the place of this writer's. Of one version the writer's is
/// the one that was answered, if any was: a group's states all have that of its last change. Before the row log is put
/// together the newest entry's is. Where a newer entry names the aggregate and none is here, it is damaged, or was
/// removed: an older one is not written over what others have.
///
/// `here`: the version of the one that is here. `newer`: an entry that is here and newer names the aggregate.
[[nodiscard]] inline bool takes_snapshot(RowLogBy by, SeqNr version, std::optional<SeqNr> here, bool newer) {
  if (!here) return !newer;
  if (version > *here) return true;
  return version == *here && by == RowLogBy::replica && !newer;
}

/// Whether the aggregate's latest snapshot comes into the row log once more, since some disk may have another one than
/// the newest entry says.
[[nodiscard]] inline bool is_logged_anew(RowLogBy by, bool newer, bool taken) {
  return by == RowLogBy::replica_late ? taken || !newer : taken == newer;
}

}  // namespace evershard::cluster
