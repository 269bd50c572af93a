// CommitBatch: everything one commit writes, decided.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/snapshot.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/storage/encoded_append.hpp"

namespace evershard::storage {

struct PlacedEvent {
  SeqNr seq_nr;
  ShardOffset offset;
};

/// Borrowed: the append outlives the commit.
struct PlacedAppend {
  const EncodedAppend* append = nullptr;
  GlobalPosition first_position;
  std::uint32_t first_event = 0;  ///< in CommitBatch::events
};

/// A snapshot written alone: its version exists, at `position`.
struct PlacedSnapshot {
  Snapshot snapshot;
  GlobalPosition position;
};

/// A small row, rewritten: checkpoints of groups, definitions. Absent value: deleted.
struct StateWrite {
  std::string key;
  std::optional<std::string> value;
};

/// Shape: appends in order of position, which is the order of decisions; `cut` covers exactly their events.
struct CommitBatch {
  std::optional<sharding::Cut> cut;  ///< absent: nothing is placed, only snapshots and state rows
  std::vector<PlacedAppend> appends;
  std::vector<PlacedEvent> events;
  std::vector<PlacedSnapshot> snapshots;
  std::vector<StateWrite> state;
};

}  // namespace evershard::storage
