// NodeNetwork: what a node asks of the coordinator and of other nodes, whoever carries it.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "evershard/actors/core/attempt.hpp"
#include "evershard/actors/core/writer_actions.hpp"
#include "evershard/cluster/order/messages.hpp"
#include "evershard/cluster/replication/shipment.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"
#include "evershard/storage/journal/commit_batch.hpp"
#include "evershard/storage/journal/journal_sum.hpp"

namespace evershard::cluster {

/// unavailable: nobody owns this shard now.
[[nodiscard]] inline Error no_owner(ShardId shard) {
  ErrorDetails details;
  details.shard = shard;
  return {ErrorCode::unavailable, "shard " + std::to_string(shard.value) + " has no node", std::move(details)};
}

using ToCoordinator = std::variant<Hello, CutsAfter, Held, actors::WriterReport, Narrowed>;

/// Events of these shards, or those that match, in (after, up_to].
struct NodePageAsked {
  std::vector<ShardId> shards;  ///< ascending: the asker counts on these being that node's
  Query query = Query::all();
  GlobalPosition after;
  GlobalPosition up_to;  ///< the node has applied the cuts up to here before it answers (rule 13)
  Direction direction = Direction::forwards;
  std::uint32_t events_max = 1'000;
  std::uint64_t read = 0;  ///< the asker's number of it, by which he may give it up; 0: he does not
  /// Not empty: the events that have one of these ids, and first events of requests, see storage::request_key();
  /// whatever the query.
  std::vector<EventId> names{};

  /// What of a read is to be asked of one node's shards. `watermark`: the read is bounded by it.
  [[nodiscard]] static NodePageAsked of(std::vector<ShardId> shards, Query query, const ReadOptions& options,
                                        GlobalPosition watermark);
  [[nodiscard]] bool is_nothing() const { return after >= up_to; }
  /// Goes on behind a page. `complete_to`: the page's.
  void go_on_behind(GlobalPosition complete_to);
};

struct NodePage {
  std::vector<RecordedEvent> events;
  GlobalPosition complete_to;  ///< nothing is missing up to here (backwards: down to here), inclusive
  bool end = false;
};

/// One aggregate's events on the node that owns it.
struct NodeStreamAsked {
  AggregateId aggregate;
  StreamOptions options;
  GlobalPosition up_to;
  std::uint32_t events_max = 1'000;
};

/// Of one aggregate, as of a position that the node has applied.
struct NodeHeadAsked {
  AggregateId aggregate;
  GlobalPosition up_to;
  bool shown = false;  ///< as users are shown it: one that was removed is not_found
};

/// The retained copies of one aggregate's state, on the node that owns it.
struct NodeSnapshotsAsked {
  enum class Which : std::uint8_t { latest, at_or_before, as_of, all };
  AggregateId aggregate;
  Which which = Which::latest;
  std::uint64_t at = 0;  ///< at_or_before: a version; as_of: a position
  GlobalPosition up_to;
};

/// The aggregates of these shards, in order of type and value, behind `after`.
struct NodeAggregatesAsked {
  std::vector<ShardId> shards;  ///< ascending
  std::optional<std::string> type;
  std::optional<AggregateId> after;
  std::uint32_t limit = 0;
  GlobalPosition up_to;
  std::uint64_t read = 0;  ///< as above
};

template <class T>
using NodeDone = std::function<void(Result<T>)>;

/// Called from any of the node's threads; does not block. Every `done` is called exactly once, from any thread: with
/// `timeout` where a session ends before the answer came, `unavailable` where there is none.
class NodeNetwork {
 public:
  virtual ~NodeNetwork() = default;
  virtual void to_coordinator(ToCoordinator message) = 0;
  /// The leaderships as this node knows them from now on: its requests carry them, and requests of other nodes must
  /// agree with them.
  virtual void led_by(const sharding::Leaderships& leaderships) { static_cast<void>(leaderships); }
  /// To followers; what cannot be sent is lost. Returns: of these nodes, those that it was not sent to.
  virtual std::vector<std::uint32_t> ship(const std::vector<std::uint32_t>& nodes, const Ship& ship) {
    static_cast<void>(ship);
    return nodes;
  }
  /// To a writer; what cannot be sent is lost: it is said again.
  virtual void followed(std::uint32_t node, const FollowerTold& followed) {
    static_cast<void>(node), static_cast<void>(followed);
  }
  /// To a follower; what cannot be sent is lost: it says again how far it is.
  virtual void ship_row_log(std::uint32_t node, const RowLogPart& part) {
    static_cast<void>(node), static_cast<void>(part);
  }
  /// What another replica's row log has; some of it.
  virtual void row_log(std::uint32_t node, const RowLogAsked& asked, NodeDone<RowLogPart> done) {
    static_cast<void>(node), static_cast<void>(asked);
    done(refuse(ErrorCode::unavailable, "nobody is asked"));
  }
  /// What another replica's journal has there.
  virtual void journal_sum(std::uint32_t node, const JournalSumAsked& asked, NodeDone<storage::JournalSum> done) {
    static_cast<void>(node), static_cast<void>(asked);
    done(refuse(ErrorCode::unavailable, "nobody is asked"));
  }
  /// A range of another replica's journal, as it lies there.
  virtual void journal(std::uint32_t node, const JournalAsked& asked, NodeDone<storage::ShippedRows> done) {
    static_cast<void>(node), static_cast<void>(asked);
    done(refuse(ErrorCode::unavailable, "nobody is asked"));
  }
  /// What that node has applied behind a position, in order, as it keeps it; some of it.
  virtual void history(std::uint32_t node, GlobalPosition after, NodeDone<NodeHistory> done) {
    static_cast<void>(node), static_cast<void>(after);
    done(refuse(ErrorCode::unavailable, "nobody is asked"));
  }
  virtual void forward(std::uint32_t node, Append append, NodeDone<Appended> done) = 0;
  virtual void ask_part(std::uint32_t node, std::shared_ptr<const actors::Attempt> of, actors::PartAsked part,
                        std::function<void(actors::PartAnswer)> done) = 0;
  virtual void read(std::uint32_t node, NodePageAsked asked, NodeDone<NodePage> done) = 0;
  virtual void read_stream(std::uint32_t node, NodeStreamAsked asked, NodeDone<NodePage> done) = 0;
  virtual void head(std::uint32_t node, NodeHeadAsked asked, NodeDone<AggregateInfo> done) = 0;
  virtual void snapshots(std::uint32_t node, NodeSnapshotsAsked asked,
                         NodeDone<std::vector<RecordedSnapshot>> done) = 0;
  /// `up_to`: what the asker has seen: the version may be that new.
  virtual void put_snapshot(std::uint32_t node, Snapshot snapshot, GlobalPosition up_to, NodeDone<void> done) = 0;
  virtual void aggregates(std::uint32_t node, NodeAggregatesAsked asked, NodeDone<std::vector<AggregateInfo>> done) = 0;
};

}  // namespace evershard::cluster
