// CommitBatch: everything one commit writes, decided.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/snapshot.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/storage/journal/encoded_append.hpp"

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

/// A record of the journal that takes the place of the one under its key: the same events, some of them stubs
/// (with_stubs).
struct RecordRewrite {
  ShardId shard;
  ShardOffset record;  ///< its first offset
  std::string bytes;
  std::size_t bytes_before = 0;         ///< of the record that this one takes the place of
  std::vector<ShardOffset> stubs{};     ///< the events that are stubs in it and were none before
  EventState to = EventState::removed;  ///< those
};

/// Snapshots of an aggregate that go: retained copies that have expired, and those of versions below.
struct SnapshotsToGo {
  AggregateId aggregate;
  SeqNr below{0};
  bool latest = false;  ///< slot 0 too, where its version is below
};

/// Rows that are written with an append, or alone.
struct RowWrites {
  std::vector<StateWrite> state{};
  std::vector<RecordRewrite> rewrites{};
  std::vector<SnapshotsToGo> snapshots_to_go{};
  /// Their latest snapshots stand for what is removed here: whoever takes these rows over is to have them with it.
  std::vector<AggregateId> stood_for{};

  [[nodiscard]] bool empty() const { return state.empty() && rewrites.empty() && snapshots_to_go.empty(); }
};

/// Shape: appends in order of position, which is the order of decisions; `cut` covers exactly their events.
struct CommitBatch {
  std::optional<sharding::Cut> cut;  ///< absent: nothing is placed, only snapshots and state rows
  std::vector<PlacedAppend> appends;
  std::vector<PlacedEvent> events;
  std::vector<PlacedSnapshot> snapshots;
  std::vector<StateWrite> state;
  std::vector<RecordRewrite> rewrites;
  std::vector<SnapshotsToGo> snapshots_to_go;
};

}  // namespace evershard::storage
