// NodeStore: the store of one node of a cluster: durable first, placed by cuts afterwards.

#pragma once

#include <memory>
#include <vector>

#include "evershard/sharding/cut.hpp"
#include "evershard/storage/journal_batch.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::storage {

/// Some shards of a store. Batches come in journaled events and in cuts, not in CommitBatch::cut; everything is committed in the
/// order of staging all the same. What other nodes hold has its positions, and nothing else, here.
///
/// Implementations and contract: as Store; tests/contract/node_store_contract_test.cpp.
class NodeStore : public Store {
 public:
  /// Makes records, and a row for each append that is tentative or brings snapshots. Readers see nothing of it.
  ///
  /// Shape: offsets ascend in each shard and lie behind its head.
  [[nodiscard]] virtual std::unique_ptr<StagedCommit> stage_journal(const JournalBatch& batch) = 0;
  /// Gives what was journaled its places: rows and tail entries; what the cut refuses is never shown.
  ///
  /// Shape:   the next cut, as the node keeps it (sharding/node_cut.hpp): of its own shards, what is committed, in order.
  /// Durable: its commit is not synced: the cut log has it. The next synced commit covers it too.
  [[nodiscard]] virtual std::unique_ptr<StagedCommit> stage_cut(const sharding::Cut& cut) = 0;
  /// What was durable behind the cuts when the store was opened. Once: it is given away.
  [[nodiscard]] virtual std::vector<UnorderedAppend> take_unordered() = 0;
};

}  // namespace evershard::storage
