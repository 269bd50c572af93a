// Staging: a batch becomes rows and tail entries. Shared by both stores; touches no disk but for snapshots' old copies.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "evershard/sharding/ordering.hpp"
#include "evershard/storage/index/tail_index.hpp"
#include "evershard/storage/journal/commit_batch.hpp"
#include "evershard/storage/journal/journal_batch.hpp"
#include "evershard/storage/journal/journal_rows.hpp"
#include "evershard/storage/journal/row_sink.hpp"
#include "evershard/storage/journal/snapshot_slots.hpp"
#include "evershard/storage/journal/unordered.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/order/refused_rows.hpp"

namespace evershard::storage {

/// Two ways, and a store is used in one of them: with places decided (one process), or durable first and placed by a
/// cut afterwards (a node of a cluster).
///
/// Owner: the thread that stages. Buffers are kept from batch to batch.
class Staging {
 public:
  /// `start`: what the store recovered. `unordered`: what it found behind the cuts; `journal_ends`: of each shard, the
  /// first offset its journal has not used. `covered`, `refused`: of a node's shards, as their rows say.
  Staging(const sharding::OrderState& start, std::vector<ShardOffset> journal_ends, Unordered unordered,
          std::size_t record_bytes, std::map<ShardId, Covered> covered = {}, RefusedRows refused = {});

  /// Journal records split at about `record_bytes`, the cut, snapshots, state rows, the applied row; events into
  /// `tail`.
  ///
  /// Shape: CommitBatch's, checked here: the cut is the next one and covers exactly the events, offsets join on.
  void stage(const CommitBatch& batch, TailIndex& tail, RowSink& sink, SnapshotSlots& snapshots);

  /// Journal records, and a row for each append that is tentative or brings snapshots; rows that were shipped as they
  /// are; nothing into the tail.
  ///
  /// Shape: JournalBatch's, checked here. `made`: see NodeStore; nullptr: nobody asks.
  void stage_journal(const JournalBatch& batch, std::vector<ShippedRows>* made, RowSink& sink);
  /// Forgets what the shard has from there on; its row goes into `sink`. The journal's rows are to be erased when
  /// everything staged before is written (journal_range.hpp): they are read for that.
  ///
  /// Returns: what is before it does not count.
  ShardOffset stage_take_off(ShardId shard, ShardOffset from, Epoch followed, RowSink& sink);
  /// The cut's row, what it places into `tail`, its snapshots, the applied row; rows of what waited for it go.
  ///
  /// Shape: as a node keeps it (sharding/node_cut.hpp), the next one; of its own shards it covers what was journaled,
  /// in order. `damaged`, `holes`: see NodeStore.
  void stage_cut(const sharding::Cut& cut, const std::vector<ShardId>& damaged, const std::vector<ShardId>& holes,
                 TailIndex& tail, RowSink& sink, SnapshotSlots& snapshots);

  [[nodiscard]] const Applied& applied() const { return applied_; }
  [[nodiscard]] std::size_t unordered() const { return unordered_.events(); }

 private:
  void place(const PlacedAppend& placed, const CommitBatch& batch, RowSink& sink);
  [[nodiscard]] TailEvent add_record(const EncodedAppend& append, std::size_t i, ShardOffset offset, SeqNr seq_nr,
                                     RowSink& sink);
  void journal(const JournalAppend& journaled, RowSink& sink);
  void take_shipped(const ReadRows& read, RowSink& sink);
  void put_covered(ShardId shard, Covered& row, RowSink& sink);
  void give_up(const sharding::Opening& opening, GlobalPosition up_to, RowSink& sink);
  void settle_waiting(ShardId shard, ShardOffset end, RowSink& sink, SnapshotSlots& snapshots);
  void put_order(const sharding::Cut& cut, RowSink& sink);
  static void stage_snapshots(const PlacedAppend& placed, const CommitBatch& batch, RowSink& sink,
                              SnapshotSlots& snapshots);

  JournalRows journal_;
  Unordered unordered_;
  Applied applied_;
  std::map<ShardId, Covered> covered_;  ///< of a node
  RefusedRows refused_;                 ///< of a node
  std::string bytes_;
  std::vector<TailEvent> entries_;  // of the batch, added together
  std::vector<Unordered::Placed> placed_;
};

}  // namespace evershard::storage
