// What the processes of a cluster tell each other, as bytes: Protobuf, in protocol/v1/cluster.proto. The only module
// that knows those.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "evershard/cluster/node/node_network.hpp"
#include "evershard/cluster/replication/shipment.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// Frozen numbers: kinds of messages on a link.
enum class PeerKind : std::uint16_t {
  hello = 1,
  cuts_after = 2,
  held = 3,
  report = 4,
  welcome = 10,
  hello_refused = 11,
  opens = 12,
  announce = 13,
  cuts = 14,
  report_from = 15,
  cut_promised = 16,
  members = 17,
  tell_again = 19,
  identity = 18,     ///< a request of a node: answered with the identity row of a whole store
  read = 20,         ///< a request: answered with a page
  read_stream = 21,  ///< the same
  head = 22,         ///< answered with a head
  forward = 23,      ///< answered as an append is
  part = 24,         ///< answered with a part's answer
  snapshots = 25,
  put_snapshot = 26,  ///< answered with nothing
  aggregates = 27,
  given_up = 28,        ///< a message of a node: nobody waits for one of its reads any more, by the read's number
  ship = 32,            ///< a message of a shard's writer to a follower
  followed = 33,        ///< a message of a follower to the writer
  ship_row_log = 34,    ///< a message of a shard's writer to a follower
  row_log = 35,         ///< a request of a shard's writer to another replica: answered with a part of its row log
  journal = 37,         ///< a request of a node to another: answered with a Ship of one shard
  narrow = 60,          ///< a message of the coordinator to a shard's writer
  narrowed = 61,        ///< its answer
  journal_sum = 36,     ///< a request of a node to another replica: answered with a JournalSum
  ship_snapshot = 39,   ///< a request of a writer of an earlier release to a follower: answered with nothing
  history = 38,         ///< a request of a replica to another: answered with the cuts that it applied
  cluster_status = 30,  ///< a request of a node to the coordinator: answered with a ClusterStatusResponse
  cluster_assign = 31,  ///< the same: ClusterAssignRequest, answered with a ClusterAssignResponse
  aggregate = 40,       ///< a request: one thing asked of a live aggregate, aggregate_messages.hpp
  home = 41,            ///< a request: a call to the home of a definition, home_messages.hpp
  keys = 50,            ///< a request of a node to the coordinator, key_messages.hpp
  keys_forget = 51,     ///< a request of the coordinator to a node, the same
};

struct CutPromised {
  ShardId shard{};
  Epoch epoch{};
  std::uint64_t ask = 0;
  CutNumber cut{};
  sharding::Leadership coordinator{};
  friend bool operator==(const CutPromised&, const CutPromised&) = default;
};

struct PeerBytes {
  PeerKind kind{};
  std::string bytes{};
};

using FromCoordinator = std::variant<ToNode, CutPromised, Members>;

[[nodiscard]] PeerBytes encode(const ToCoordinator& message);
[[nodiscard]] PeerBytes encode(const ToNode& message);
[[nodiscard]] PeerBytes encode(const CutPromised& message);
[[nodiscard]] PeerBytes encode(const Members& message);

/// Appended to a request of a node to a node: what it knows of who led. Nothing for none.
[[nodiscard]] std::string encode_asked_under(const sharding::Leaderships& leaderships);
/// What a request ends with; none: of an earlier release. Errors: corruption: malformed
[[nodiscard]] Result<sharding::Leaderships> decode_asked_under(std::string_view request);

/// Errors of each: corruption: malformed, or of a kind that is none of these
[[nodiscard]] Result<ToCoordinator> decode_to_coordinator(PeerKind kind, std::string_view bytes);
[[nodiscard]] Result<FromCoordinator> decode_from_coordinator(PeerKind kind, std::string_view bytes);

// -- node to node: requests and what answers them

[[nodiscard]] std::string encode(const NodePageAsked& asked);
[[nodiscard]] std::string encode(const NodeStreamAsked& asked);
[[nodiscard]] std::string encode(const NodeHeadAsked& asked);
[[nodiscard]] std::string encode_forward(const Append& append);
[[nodiscard]] std::string encode_part(const actors::Attempt& of, const actors::PartAsked& part);
[[nodiscard]] std::string encode(const NodePage& page);
[[nodiscard]] std::string encode_head(const AggregateInfo& head);
[[nodiscard]] std::string encode(const Appended& appended);
[[nodiscard]] std::string encode(const actors::PartAnswer& answer);

[[nodiscard]] std::string encode(const NodeSnapshotsAsked& asked);
[[nodiscard]] std::string encode(const std::vector<RecordedSnapshot>& snapshots);
[[nodiscard]] std::string encode(const Snapshot& snapshot, GlobalPosition up_to);
[[nodiscard]] std::string encode(const NodeAggregatesAsked& asked);
[[nodiscard]] std::string encode_given_up(std::uint64_t read);
[[nodiscard]] std::string encode(const std::vector<AggregateInfo>& aggregates);
[[nodiscard]] std::string encode(const Ship& ship);
[[nodiscard]] std::string encode(const storage::PlacedSnapshot& snapshot, Epoch epoch);
[[nodiscard]] std::string encode_history_asked(GlobalPosition after);
[[nodiscard]] std::string encode(const NodeHistory& history);
[[nodiscard]] std::string encode(const FollowerTold& followed);
[[nodiscard]] std::string encode(const RowLogPart& part);
[[nodiscard]] std::string encode(const RowLogAsked& asked);
[[nodiscard]] std::string encode(const JournalSumAsked& asked);
[[nodiscard]] std::string encode(const JournalAsked& asked);
[[nodiscard]] std::string encode_journal(storage::ShippedRows rows);
[[nodiscard]] std::string encode(const storage::JournalSum& sum);

struct PartMessage {
  std::shared_ptr<actors::Attempt> of;  ///< its prepared append: what is of the part's shard
  actors::PartAsked part;
};

/// Errors of each: corruption: malformed
[[nodiscard]] Result<NodePageAsked> decode_read(std::string_view bytes);
[[nodiscard]] Result<NodeStreamAsked> decode_read_stream(std::string_view bytes);
[[nodiscard]] Result<NodeHeadAsked> decode_head_asked(std::string_view bytes);
[[nodiscard]] Result<Append> decode_forward(std::string_view bytes);
/// `shards`: of the store; terms of aggregates are hashed anew.
[[nodiscard]] Result<PartMessage> decode_part(std::string_view bytes, std::uint32_t shards,
                                              const sharding::TermHasher& hasher);
[[nodiscard]] Result<NodePage> decode_page(std::string_view bytes);
/// Of the aggregate that was asked for.
[[nodiscard]] Result<AggregateInfo> decode_head(std::string_view bytes, const AggregateId& aggregate, ShardId shard);
[[nodiscard]] Result<NodeSnapshotsAsked> decode_snapshots_asked(std::string_view bytes);
[[nodiscard]] Result<std::vector<RecordedSnapshot>> decode_snapshots(std::string_view bytes);
[[nodiscard]] Result<std::pair<Snapshot, GlobalPosition>> decode_put_snapshot(std::string_view bytes);
[[nodiscard]] Result<NodeAggregatesAsked> decode_aggregates_asked(std::string_view bytes);
[[nodiscard]] Result<std::vector<AggregateInfo>> decode_aggregates(std::string_view bytes);
[[nodiscard]] Result<std::uint64_t> decode_given_up(std::string_view bytes);
[[nodiscard]] Result<Ship> decode_ship(std::string_view bytes);
[[nodiscard]] Result<std::pair<storage::PlacedSnapshot, Epoch>> decode_shipped_snapshot(std::string_view bytes);
[[nodiscard]] Result<GlobalPosition> decode_history_asked(std::string_view bytes);
[[nodiscard]] Result<NodeHistory> decode_history(std::string_view bytes);
[[nodiscard]] Result<FollowerTold> decode_followed(std::string_view bytes);
[[nodiscard]] Result<RowLogPart> decode_row_log_part(std::string_view bytes);
[[nodiscard]] Result<RowLogAsked> decode_row_log_asked(std::string_view bytes);
[[nodiscard]] Result<JournalSumAsked> decode_journal_sum_asked(std::string_view bytes);
[[nodiscard]] Result<JournalAsked> decode_journal_asked(std::string_view bytes);
[[nodiscard]] Result<storage::ShippedRows> decode_journal(std::string_view bytes);
[[nodiscard]] Result<storage::JournalSum> decode_journal_sum(std::string_view bytes);
[[nodiscard]] Result<Appended> decode_appended(std::string_view bytes);
[[nodiscard]] Result<actors::PartAnswer> decode_part_answer(std::string_view bytes);

}  // namespace evershard::cluster
