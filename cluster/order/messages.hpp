// What coordinator and nodes tell each other about the order. Any of it may be late, doubled, lost, reordered or stale.
//
// Source: docs/internals/ordering.md, rules 2 to 13.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "evershard/api/cluster_view.hpp"
#include "evershard/protocol/error.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/timestamp.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/cut_log.hpp"
#include "evershard/sharding/reports.hpp"
#include "evershard/sharding/shard_map.hpp"

namespace evershard::cluster {

/// A process of a node. Shape: neither is 0; the incarnation is drawn at random when the process starts.
struct NodeProcess {
  std::uint32_t node = 0;
  std::uint64_t incarnation = 0;
  friend bool operator==(const NodeProcess&, const NodeProcess&) = default;
  friend auto operator<=>(const NodeProcess&, const NodeProcess&) = default;
};

// -- a node to the coordinator

/// A shard as a node's disk has it.
struct ShardTold {
  ShardId shard;
  Epoch epoch;             ///< the newest one this disk was opened under; 0: none
  bool taken = false;      ///< this very process took that opening
  ShardOffset covered{1};  ///< the first offset no cut that was applied here covers
  ShardOffset tail{1};     ///< the first offset never used; not before `covered`
  bool damaged = false;    ///< it lacks what cuts cover, or was told to keep it no longer: this is no replica
};

/// The first message of a session, and again whenever a shard of the node's is not opened.
struct Hello {
  NodeProcess from;
  std::uint64_t session = 0;  ///< the node's number of the session; comes back in the answer
  std::string address;
  CutNumber cut;  ///< the last one applied
  std::vector<ShardTold> shards;
  std::string door{};          ///< where clients reach it; empty: not open yet
  std::string version{};       ///< of its program
  bool gateway = false;        ///< it wants no shards
  sharding::Leadership led{};  ///< whose cuts it applied last; epoch 0: not known
  std::string zone{};          ///< what may fail together with it; empty: nothing
  Timestamp clock{};           ///< what time it is there; 0: not said. Nothing but a warning rests on it.
  std::string kurrent_door{};  ///< where KurrentDB's clients reach it; empty: nowhere
  bool builds = false;         ///< it knows of appends that build on undecided ones
};

struct CutsAfter {
  NodeProcess from;
  CutNumber after;
};

/// Cuts up to this one are applied and synced: the log may fold them.
struct Held {
  NodeProcess from;
  CutNumber cut;
  CutNumber applied{};        ///< synced or not; 0: not said. For people.
  std::uint64_t learned = 0;  ///< events that it has of shards that it is to keep, and does not yet. For people.
  bool full = false;          ///< its disk is: it takes no appends, and nothing that is shipped
  Timestamp clock{};          ///< as in Hello
};

using Report = sharding::Report;

// -- the coordinator to a node

struct ShardRefused {
  ShardId shard;
  Error error;
};

struct Welcome {
  NodeProcess to;
  std::uint64_t session = 0;
  Epoch coordinator;
  CutNumber last_cut;
  GlobalPosition watermark;
  sharding::ShardMap map{0};
  std::vector<GlobalPosition> last_positions;  ///< per shard; 0: none
  std::vector<ShardRefused> refused;           ///< shards of this node that are not opened, and why
  GlobalPosition window_from;
  bool digests_wanted = false;
  sharding::Leaderships leaderships{};           ///< as the log has them; none: of an earlier release
  std::vector<sharding::ReplicaSet> replicas{};  ///< per shard; none: of an earlier release
  /// The coordinator, and all nodes that are here, know of appends that build on undecided ones.
  bool builds = false;
};

struct HelloRefused {
  NodeProcess to;
  std::uint64_t session = 0;
  Error error;
};

/// The opening of the shard under this epoch, in a cut of this coordinator's, is for this process: no other one is.
struct Opens {
  NodeProcess to;
  Epoch coordinator;
  ShardId shard;
  Epoch epoch;
  EventId leader{};  ///< the coordinator's identity; not given: of an earlier release
};

/// A stored cut, and what is not in it.
struct Announce {
  sharding::Cut cut;
  GlobalPosition window_from;
  bool digests_wanted = false;
  EventId leader{};     ///< who announces it
  bool builds = false;  ///< as in Welcome
};

/// The answer to CutsAfter.
struct Cuts {
  NodeProcess to;
  CutNumber after;
  sharding::CutsFound found;
  GlobalPosition window_from;
  bool digests_wanted = false;
  EventId leader{};  ///< who answers
};

/// A report did not join on: report again from here.
struct ReportFrom {
  ShardId shard;
  Epoch epoch;
  ShardOffset first;
};

/// Say hello: how far the disk is has to be known now, because a shard needs a new writer.
struct TellAgain {
  NodeProcess to;
};

/// To a shard's writer: what is answered from now on, a quorum of the others has. Zero: all of its set count again.
struct Narrow {
  NodeProcess to;
  Epoch coordinator;
  ShardId shard;
  Epoch epoch;                ///< of its opening
  std::uint32_t without = 0;  ///< which node does not count
  std::uint64_t number = 0;   ///< of this asking, under this coordinator; 0: of an earlier release
};

/// The writer: that is so, also of all that was answered before.
struct Narrowed {
  NodeProcess from;
  Epoch coordinator;
  ShardId shard;
  Epoch epoch;
  std::uint32_t without = 0;
  std::uint64_t number = 0;  ///< of the asking
};

/// What a replica has applied behind some position, for one that was away. It keeps no cuts that placed nothing.
struct NodeHistory {
  std::vector<sharding::Cut> cuts;  ///< as that node keeps them, in order; some of them
  CutNumber last_cut;               ///< that it has applied
  GlobalPosition watermark;
  struct End {
    ShardId shard;
    ShardOffset end{1};
    Epoch epoch;  ///< of its newest opening
    std::uint32_t writer = 0;
  };
  std::vector<End> ends;  ///< where all that it has applied ends in each shard; none: there are more cuts than these
  bool complete = false;  ///< of several replicas: each has given all that it has. Not sent
  std::vector<ShardId> shards{};  ///< of which all that cuts placed is in it
};

/// The nodes that are known, whenever that changes. It comes before every cut that was stored since.
struct Members {
  Epoch coordinator;
  std::vector<ClusterView::Node> nodes;  ///< ascending by number
  /// The process that each node is, as far as this coordinator took a hello of one: no other process of that node
  /// counts.
  std::vector<NodeProcess> processes{};  ///< ascending by number
  std::uint64_t naming = 0;              ///< grows with each process that is named; 0: of an earlier release
  friend bool operator==(const Members&, const Members&) = default;
};

using ToNode = std::variant<Welcome, HelloRefused, Opens, Announce, Cuts, ReportFrom, TellAgain, Narrow>;

}  // namespace evershard::cluster
