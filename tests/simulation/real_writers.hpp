// RealWriters: the product's ShardWriters in a process of the simulation, with what the shell around them keeps.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evershard/actors/core/shard_writers.hpp"
#include "evershard/cluster/order/messages.hpp"
#include "evershard/cluster/replication/followed_shards.hpp"
#include "evershard/cluster/replication/named_processes.hpp"
#include "evershard/cluster/replication/narrowed_sets.hpp"
#include "evershard/cluster/replication/quorum_gate.hpp"
#include "evershard/cluster/replication/row_logs.hpp"
#include "evershard/cluster/replication/shipping.hpp"
#include "tests/simulation/disk.hpp"
#include "tests/simulation/history.hpp"
#include "tests/simulation/link_end.hpp"
#include "tests/simulation/row_disk.hpp"

namespace evershard::simulation {

struct RealWriters {
  RealWriters(actors::ShardWriters::Start start, actors::ShardWriters::Options options, std::size_t shards)
      : writers(std::move(start), options), gate(options.node), shipping({.under_way_max = 1'500}), owners(shards) {}

  actors::ShardWriters writers;
  /// Came from a shard's writer.
  struct Shipped {
    std::uint32_t from = 0;
    Epoch epoch;
    storage::ShippedRows rows;
    std::vector<storage::UnorderedAppend> appends;
  };
  struct Writing {
    actors::WriterBatch batch;
    std::vector<Shipped> shipped;
    std::size_t until = 0;  ///< of the disk's writes
  };
  std::deque<Writing> writing;
  std::map<std::uint64_t, AppendId> clients;           ///< not answered yet
  std::map<std::uint64_t, Letters::Answer> forwarded;  ///< of those, the ones that another node waits for
  std::map<std::uint64_t, std::function<void(const Result<Appended>&)>>
      hearing;  ///< of those, who hears what came of it
  struct Asker {
    cluster::NodeProcess process;
    std::uint64_t ask = 0;
    Letters::Answer answer;  ///< with links
  };
  std::map<std::uint64_t, Asker> askers;  ///< of parts, not answered yet
  std::map<std::uint64_t, actors::PartAsked> asking;
  std::uint64_t numbers = 0;
  // As NodeCommitter has them.
  cluster::NamedProcesses named;
  cluster::QuorumGate gate;
  cluster::NarrowedSets narrowed;
  cluster::Shipping shipping;
  cluster::FollowedShards followed;
  std::set<ShardId> asked_again, tails_changed;
  /// What the order knows of its followed tails. What is behind that, the product has not written yet: it drops it.
  std::map<ShardId, ShardOffset> told;
  std::set<std::uint32_t> reading_for;
  struct Owner {
    std::uint32_t node = 0;
    Epoch epoch;
  };
  std::vector<Owner> owners;
  cluster::RowLogs rows;
  /// For a quorum.
  struct RowsWaiting {
    ShardId shard;
    storage::RowLogAt at;
    std::uint32_t key = 0;
    RowDisk::State state;
  };
  std::vector<RowsWaiting> rows_waiting;
  std::set<std::pair<ShardId, std::uint32_t>> unlogged;  ///< whose states are to come into the row log once more
  bool learned_rows = false;
};

/// What a node begins with, as its disk has it.
[[nodiscard]] actors::ShardWriters::Start writers_of(const DiskState& disk);
/// What no cut covers of a shard that is not damaged.
[[nodiscard]] std::vector<storage::UnorderedAppend> unordered_of(const DiskShard& shard);
/// The request as a client sends it: encoded, and not looked up.
[[nodiscard]] std::shared_ptr<actors::Attempt> attempt_of(AppendId id, const Request& request);
/// What the owner of another shard makes of a part.
[[nodiscard]] std::shared_ptr<actors::Attempt> part_attempt_of(const actors::Attempt& of,
                                                               const actors::PartAsked& asked);
[[nodiscard]] AggregateId aggregate_of(ShardId shard, std::uint32_t aggregate);
/// Of what aggregate_of() made.
[[nodiscard]] std::pair<ShardId, std::uint32_t> numbers_of(const AggregateId& aggregate);
/// Which request it is.
[[nodiscard]] AppendId append_of(const storage::EncodedAppend& append);

}  // namespace evershard::simulation
