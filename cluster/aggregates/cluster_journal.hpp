// ClusterJournal: what aggregates ask of a cluster's store.

#pragma once

#include "evershard/actors/entity/aggregate_journal.hpp"
#include "evershard/cluster/node/cluster_node.hpp"

namespace evershard::cluster {

/// Up to a position everything is read, on whatever node it is. Without one, as a load does, only aggregates whose
/// shards are this node's, and only when all that was written to them has its place: what an earlier process of this
/// node wrote, or this one without hearing of it, may still come.
///
/// Owner: the node outlives it.
class ClusterJournal final : public actors::AggregateJournal {
 public:
  explicit ClusterJournal(ClusterNode& node) : node_(node) {}

  void append(Append append, AppendChain chain, std::uint64_t loaded_at,
              std::function<void(Result<Appended>)> done) override;
  /// Errors: also wrong_shard, unavailable
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                                 std::optional<GlobalPosition> up_to) const override;
  [[nodiscard]] Result<Page> stream(const AggregateId& aggregate, const StreamOptions& options) const override;
  [[nodiscard]] Result<Page> query(const Query& query, const ReadOptions& options) const override;
  [[nodiscard]] Result<std::optional<actors::RecordedCommand>> command(const AggregateId& aggregate,
                                                                       std::string_view command_id) const override;
  [[nodiscard]] Result<void> put_snapshot(Snapshot snapshot, std::uint64_t) override {
    return node_.put_snapshot(std::move(snapshot));
  }
  [[nodiscard]] GlobalPosition watermark() const override { return node_.committer().watch().watermark(); }

 private:
  ClusterNode& node_;
};

}  // namespace evershard::cluster
