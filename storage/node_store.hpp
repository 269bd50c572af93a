// NodeStore: the store of one node of a cluster: durable first, placed by cuts afterwards.

#pragma once

#include <memory>
#include <vector>

#include "evershard/sharding/cut.hpp"
#include "evershard/storage/journal/journal_batch.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::storage {

/// Some shards of a store. Batches come in journaled events and in cuts, not in CommitBatch::cut; everything is
/// committed in the order of staging all the same. What other nodes hold has its positions, and nothing else, here.
///
/// Implementations and contract: as Store; tests/contract/node_store_contract_test.cpp.
class NodeStore : public Store {
 public:
  /// Makes records, and a row for each append that is tentative or brings snapshots. Readers see nothing of it.
  ///
  /// Shape: offsets ascend in each shard and lie behind its head.
  /// `made`: what followers are to be given of `batch.appends`: a shard once, ascending.
  [[nodiscard]] virtual std::unique_ptr<StagedCommit> stage_journal(const JournalBatch& batch,
                                                                    std::vector<ShippedRows>* made) = 0;
  [[nodiscard]] std::unique_ptr<StagedCommit> stage_journal(const JournalBatch& batch) {
    return stage_journal(batch, nullptr);
  }
  /// A range of a shard's journal from `from` on, until about `bytes_max`, at least one record; what is committed.
  ///
  /// Returns: an empty range where the journal ends before. Any thread. Errors: corruption, io
  [[nodiscard]] virtual Result<ShippedRows> journal_from(ShardId shard, ShardOffset from,
                                                         std::size_t bytes_max) const = 0;
  /// What the journal has of the shard from this offset on goes, and this epoch is followed from now on: both or none,
  /// in one synced commit. The next offset is `from`.
  ///
  /// Shape: no cut that was applied covers `from` or what is behind it. `from` at or behind the end: nothing goes.
  [[nodiscard]] virtual std::unique_ptr<StagedCommit> stage_take_off(ShardId shard, ShardOffset from,
                                                                     Epoch followed) = 0;
  /// Gives what was journaled its places: rows and tail entries; what the cut refuses is never shown.
  ///
  /// Shape:   the next cut, as the node keeps it (sharding/node_cut.hpp): of its own shards, what is committed, in
  /// order. `damaged`: shards of which this cut covers more than is here: kept, until an opening that loses. Such an
  ///          opening gives up what the shard has from its loss on, and what was lost is kept too (Covered,
  ///          recovered_order.hpp). What of it has places here is gone when the store is opened the next time, which is
  ///          to be done before anybody reads the shard (Covered::gone_from).
  /// `holes`: of those, the ones of which cuts before this one are missing too, nobody knows which.
  /// Durable: its commit is not synced: the cut log has it. The next synced commit covers it too.
  [[nodiscard]] virtual std::unique_ptr<StagedCommit> stage_cut(const sharding::Cut& cut,
                                                                const std::vector<ShardId>& damaged,
                                                                const std::vector<ShardId>& holes) = 0;
  [[nodiscard]] std::unique_ptr<StagedCommit> stage_cut(const sharding::Cut& cut) { return stage_cut(cut, {}, {}); }
  /// What was durable behind the cuts when the store was opened. Once: it is given away.
  [[nodiscard]] virtual std::vector<UnorderedAppend> take_unordered() = 0;
};

}  // namespace evershard::storage
