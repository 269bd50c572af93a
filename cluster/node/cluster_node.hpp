// ClusterNode: a node of a cluster as the whole store: what its shards do not have, it asks others for.

#pragma once

#include <chrono>
#include <map>
#include <memory>

#include "evershard/api/event_store.hpp"
#include "evershard/cluster/node/gather.hpp"
#include "evershard/cluster/node/node_committer.hpp"
#include "evershard/cluster/node/retried_appends.hpp"
#include "evershard/cluster/node/shard_learner.hpp"
#include "evershard/storage/options.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::cluster {

struct ClusterNodeOptions {
  NodeCommitterOptions committer{};
  std::size_t page_events_max = 1'000;
  std::chrono::milliseconds timeout = std::chrono::seconds(10);  ///< of a page, and of `at_least`
  storage::StoreOptions store{};                     ///< as the store was opened: beside it lies what the node learns
  std::uint64_t learn_bytes_per_second = 64u << 20;  ///< 0: as fast as it comes
};

/// What a node found that compared its replicas with others'.
struct ComparedReplicas {
  std::uint64_t events = 0;  ///< that were compared, once for each other replica
  std::uint64_t errors = 0;
  std::vector<std::string> findings{};  ///< a sentence each
};

/// The events of the whole cluster, as one node reads and appends them.
///
/// Errors beyond EventStore's: unavailable: a shard that is needed has no node, or its node does not answer: named;
/// wrong_shard: the shard has moved just now, try again. Owner: store and network outlive the ClusterNode.
class ClusterNode final : public EventStore {
 public:
  ClusterNode(storage::NodeStore& store, NodeNetwork& network, ClusterNodeOptions options);
  ~ClusterNode() override;

  /// To the owner of the shard of its first event, here or there.
  [[nodiscard]] Result<Appended> append(Append append) override;
  void append_async(Append append, AppendCompletion done) override;

  /// Over all shards, as of this node's watermark when the first page is asked for.
  [[nodiscard]] EventStream read(Query query, ReadOptions options = {}) override;
  [[nodiscard]] EventStream read(AggregateId aggregate, StreamOptions options = {}) override;
  using EventStore::read;
  [[nodiscard]] EventFeed follow(Query query, FollowOptions options = {}) override;
  /// Errors: what the node failed with, from then on
  [[nodiscard]] Result<GlobalPosition> head() override;
  [[nodiscard]] Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout) override {
    return committer_.watch().wait_for(position, timeout);
  }
  [[nodiscard]] Result<AggregateInfo> aggregate(const AggregateId& aggregate,
                                                std::optional<GlobalPosition> up_to = {}) override;
  [[nodiscard]] Result<std::vector<AggregateInfo>> aggregates(std::optional<std::string> type,
                                                              std::optional<AggregateId> after,
                                                              std::size_t limit) override;
  [[nodiscard]] Result<RecordedEvent> event_at(GlobalPosition position) override;
  /// From the owner of the shard where it is thought to be; where it is not there, and where none is named, from all.
  /// Errors: as event_at(); not_found: also where none has it, and reads pass over what was lost
  [[nodiscard]] Result<RecordedEvent> event_at(GlobalPosition position, std::optional<ShardId> shard,
                                               std::chrono::milliseconds timeout);
  /// One that was read before, here or at another node, and is looked at again: from the owner of its shard, for a few
  /// seconds. Errors: as event_at(); timeout: this node has not come to it yet
  [[nodiscard]] Result<RecordedEvent> event_again(GlobalPosition position, const std::optional<AggregateId>& aggregate,
                                                  const EventId& id);
  [[nodiscard]] std::uint32_t shards() const { return store_.identity().shards; }

  [[nodiscard]] Result<void> put_snapshot(Snapshot snapshot) override;
  /// While its shard is open here under this epoch, and nowhere else; those of one thread in its order. Errors:
  /// wrong_shard: it is not
  [[nodiscard]] Result<void> put_snapshot_here(Snapshot snapshot, Epoch held);
  /// Of shards that are open here, see NodeCommitter.
  [[nodiscard]] Result<void> write_rows_here(storage::RowWrites rows, std::map<ShardId, storage::RowLogEntry> logged,
                                             NodeCommitter::OpenShards held);
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                                 std::optional<SeqNr> at_or_before = {}) override;
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId& aggregate,
                                                                       GlobalPosition up_to) override;
  [[nodiscard]] Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId& aggregate) override;

  /// Of the shards that this node and others keep: whether they have the same, as far as both have applied cuts.
  /// Errors: cancelled; corruption, io: of this node's own
  [[nodiscard]] Result<ComparedReplicas> compare_replicas(const storage::Progress& progress);

  /// The nodes and who owns which shard, as this node knows it; from memory.
  [[nodiscard]] ClusterView view() const { return committer_.view(); }
  [[nodiscard]] const Limits& limits() const { return options_.committer.limits; }
  [[nodiscard]] NodeCommitter& committer() { return committer_; }
  [[nodiscard]] ShardId shard_of(const AggregateId& aggregate) const;

 private:
  class StreamPages;
  class QueryPages;
  class Feed;
  using ShardsOf = std::map<std::uint32_t, std::vector<ShardId>>;
  [[nodiscard]] Result<std::uint32_t> owner_of(ShardId shard) const;
  /// This node, where it keeps the shard; else its writer's. Errors: as owner_of
  [[nodiscard]] Result<std::uint32_t> reader_of(ShardId shard) const;
  void append_at(std::uint32_t node, ShardId shard, Append append, NodeDone<Appended> done);
  /// Which shards each node owns. Errors: unavailable: one of them has no node, and there are events
  [[nodiscard]] Result<ShardsOf> shards_by_node(GlobalPosition watermark) const;
  /// Up to where this node answers. Errors: unavailable: it is not where the cluster was when it was started
  [[nodiscard]] Result<GlobalPosition> bound() const;
  /// The same without waiting.
  [[nodiscard]] Result<GlobalPosition> bound_now() const;
  [[nodiscard]] GlobalPosition watermark() const { return committer_.watch().watermark(); }
  /// Where they lie, if all these shards are this node's own; else gathered.
  [[nodiscard]] std::unique_ptr<PageSource> pages(GatherOptions gathering, Query query, const ReadOptions& options);
  [[nodiscard]] Result<std::vector<RecordedSnapshot>> find_snapshots(const AggregateId& aggregate,
                                                                     NodeSnapshotsAsked::Which which, std::uint64_t at);

  storage::NodeStore& store_;
  NodeNetwork& network_;
  const ClusterNodeOptions options_;
  mutable NodeCommitter committer_;
  std::shared_ptr<RetriedAppends> retried_;
  std::unique_ptr<ShardLearner> learner_;
};

}  // namespace evershard::cluster
