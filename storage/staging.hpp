// Staging: a commit batch becomes rows and tail entries. Shared by both stores; touches no disk but for snapshots' old copies.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "evershard/sharding/ordering.hpp"
#include "evershard/storage/applied.hpp"
#include "evershard/storage/commit_batch.hpp"
#include "evershard/storage/records.hpp"
#include "evershard/storage/rows.hpp"
#include "evershard/storage/snapshot_slots.hpp"
#include "evershard/storage/tail_index.hpp"

namespace evershard::storage {

/// Takes the rows of one commit.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void put(Family family, std::string_view key, std::string_view value) = 0;
  virtual void erase(Family family, std::string_view key) = 0;
};

/// Owner: the thread that stages. Buffers are kept from batch to batch.
class Staging {
 public:
  /// `start`: what the store recovered.
  Staging(const sharding::OrderState& start, std::size_t record_bytes);

  /// Journal records split at about `record_bytes`, the cut, snapshots, state rows, the applied row; events into `tail`.
  ///
  /// Shape: CommitBatch's, checked here: the cut is the next one and covers exactly the events, offsets join on.
  void stage(const CommitBatch& batch, TailIndex& tail, RowSink& sink, SnapshotSlots& snapshots);

 private:
  struct Shard {
    RecordBuilder builder;
    ShardOffset first;
    ShardOffset next;
    bool open = false;
  };
  void place(const PlacedAppend& placed, const CommitBatch& batch, RowSink& sink);
  void finish(ShardId id, Shard& shard, RowSink& sink);
  void take_epochs(const sharding::Cut& cut);
  static void stage_snapshots(const PlacedAppend& placed, const CommitBatch& batch, RowSink& sink, SnapshotSlots& snapshots);

  const std::size_t record_bytes_;
  std::vector<Shard> shards_;
  std::vector<ShardId> open_;
  Applied applied_;
  std::string bytes_;
  std::vector<TailEvent> entries_;  // of the batch, added together
};

}  // namespace evershard::storage
