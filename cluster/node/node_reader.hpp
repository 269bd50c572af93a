// NodeReader: what a node answers of its own shards, bounded by what it has applied.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "evershard/actors/core/watermark_watch.hpp"
#include "evershard/cluster/node/node_network.hpp"
#include "evershard/protocol/recorded_view.hpp"
#include "evershard/storage/index/hidden_aggregates.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/node_store.hpp"
#include "evershard/storage/order/applied.hpp"

namespace evershard::cluster {

/// Any thread; blocks while the node has not applied what is asked for, at most for `wait_max`.
class NodeReader {
 public:
  NodeReader(const storage::NodeStore& store, actors::WatermarkWatch& watch, std::chrono::milliseconds wait_max)
      : store_(store), reader_(store), hidden_(store.rows(), reader_), watch_(watch), wait_max_(wait_max) {}

  /// Which shards this node answers for now: those it writes, and those it follows. What it wrote before and does not
  /// keep is not answered for (rule 12).
  void owns(std::vector<ShardId> shards);
  [[nodiscard]] bool owns(ShardId shard) const;
  /// All shards of the store can be read here.
  [[nodiscard]] bool owns_all() const { return owns_all_.load(std::memory_order_acquire); }
  /// What was given up of this node's shards: who reads over it is refused.
  void lost(std::map<ShardId, std::vector<storage::LostRange>> lost);
  /// Whether all that its own shards ever had behind `after` is here. Errors: corruption: it was given up
  [[nodiscard]] Result<void> knows_own_from(GlobalPosition after);
  /// Those that are this node's and not opened, and what whoever needs one is told.
  void closes(std::map<ShardId, Error> shards);

  /// How far a visit has come.
  struct Visited {
    std::size_t events = 0;
    GlobalPosition complete_to{};  ///< as of a NodePage
    SeqNr last_seq_nr{};           ///< of the last event that was shown
    bool end = false;
  };
  /// Shows the events of the next page where they lie. Under storage::AtHand nothing is waited for.
  /// Shape: no names are asked for. Errors: as read(); nothing was shown then
  [[nodiscard]] Result<Visited> visit(const NodePageAsked& asked, const RecordedVisitor& visitor);
  [[nodiscard]] Result<Visited> visit_stream(const NodeStreamAsked& asked, const RecordedVisitor& visitor);
  /// The same pages as values, for another node. Errors: wrong_shard (one of them is another node's), timeout (the cuts
  ///         up to there are not applied), corruption (damaged, or given up by an operator: which shard, and which
  ///         positions), io
  [[nodiscard]] Result<NodePage> read(const NodePageAsked& asked);
  [[nodiscard]] Result<NodePage> read_stream(const NodeStreamAsked& asked);
  /// Version 0: there is none. Errors: as above; not_found: it was removed, where that is asked for
  [[nodiscard]] Result<AggregateInfo> head(const NodeHeadAsked& asked);
  [[nodiscard]] Result<std::vector<RecordedSnapshot>> snapshots(const NodeSnapshotsAsked& asked);
  /// Where a command of an aggregate was stored, and its reply; nothing: it was not.
  struct StoredCommand {
    std::string reply;
    SeqNr version;            ///< of the aggregate after the command's last event
    GlobalPosition position;  ///< of that event
  };
  [[nodiscard]] Result<std::optional<StoredCommand>> command(const AggregateId& aggregate, std::string_view id,
                                                             GlobalPosition up_to);
  /// But for those that were removed, and had no event since.
  [[nodiscard]] Result<std::vector<AggregateInfo>> aggregates(const NodeAggregatesAsked& asked);

 private:
  [[nodiscard]] Result<NodePage> read_names(const NodePageAsked& asked);
  /// Errors: as read()
  [[nodiscard]] Result<storage::View> view_of(const NodePageAsked& asked);
  /// Of a read of one aggregate, by the positions between which it goes. Errors: as below. Shape: `up_to` is set
  [[nodiscard]] Result<void> stream_is_whole(const storage::View& view, const AggregateId& aggregate,
                                             const StreamOptions& options);
  /// Of an aggregate of which none is there. Errors: as below
  [[nodiscard]] Result<void> had_no_snapshot(const storage::View& view, const AggregateId& aggregate,
                                             GlobalPosition up_to);
  /// Errors: corruption: positions in (after, up_to] of the shard were given up; shape: mutex_ is held
  [[nodiscard]] Result<void> nothing_lost(ShardId shard, GlobalPosition after, GlobalPosition up_to) const;
  [[nodiscard]] Result<storage::View> view_at(GlobalPosition up_to, const std::vector<ShardId>& shards);
  [[nodiscard]] ShardId shard_of(const AggregateId& aggregate) const;

  const storage::NodeStore& store_;
  const storage::Reader reader_;
  const storage::HiddenAggregates hidden_;
  actors::WatermarkWatch& watch_;
  const std::chrono::milliseconds wait_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ShardId> own_;
  std::atomic<bool> owns_all_{false};
  std::map<ShardId, std::vector<storage::LostRange>> lost_;
  std::map<ShardId, Error> closed_;
};

}  // namespace evershard::cluster
