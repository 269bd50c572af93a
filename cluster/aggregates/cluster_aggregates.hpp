// ClusterAggregates: the aggregates of a cluster, seen from one of its nodes: those of its own shards live here, the
// others are asked where they live.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "evershard/actors/aggregate/aggregate_host.hpp"
#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/cluster/aggregates/aggregate_network.hpp"
#include "evershard/cluster/node/cluster_node.hpp"
#include "evershard/services/erasure/sealed_journal.hpp"

namespace evershard::cluster {

struct ClusterAggregatesOptions {
  std::uint32_t node = 0;
  actors::AggregateHostOptions host{};
  /// What is asked of shards that have no node just now, or of a node that is gone, waits here for them; beyond these:
  /// `overloaded`.
  std::size_t waiting_max = 20'000;
  std::size_t waiting_bytes_max = 64u << 20;
  /// A process hosts its kinds a moment after it has joined: until then others are told to come again.
  std::chrono::milliseconds hosting_time_max = std::chrono::seconds(5);
  std::shared_ptr<const Sealing> sealing{};  ///< null: what has a subject is refused
  SealingQueue* sealing_queue = nullptr;     ///< with it. Owner: outlives them
};

/// A command goes to the node that owns its aggregate's shard, and is tried again, until its time is over, where that
/// has gone or changed (AskRoute). A shard's live aggregates end with the shard: what one of them writes afterwards is
/// refused by the store, whoever still holds it for alive.
///
/// Every ask is answered once, at the latest a moment after its time is over. Any thread.
/// Owner: `node` outlives it and is stopped after it; `network` asks nobody any more when it goes, and gives it
/// nothing.
class ClusterAggregates final : public AggregateDoor {
 public:
  ClusterAggregates(ClusterNode& node, AggregateNetwork& network, ClusterAggregatesOptions options);
  ~ClusterAggregates() override;

  /// Errors: also unavailable: closed
  [[nodiscard]] Result<void> host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) override;
  Asking ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command, AskOptions options,
                   AnswerDone done) override;
  [[nodiscard]] AnyAnswer ask_and_wait(const AggregateId& aggregate, std::string command_type, std::string command,
                                       AskOptions options) override;
  /// Where the type is not hosted here, the aggregate's node reads it. Eventual states have what answers that were
  /// given here rest on.
  [[nodiscard]] Result<StateBytes> state_bytes(const AggregateId& aggregate, StateRead how,
                                               std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<StateBytes> state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) override;
  [[nodiscard]] Result<void> take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) override;
  void passivate(const AggregateId& aggregate) override;

  /// What another node asks of an aggregate of this one. Does not block. `done`: once, from any thread.
  /// Errors: wrong_shard: it does not live here; invalid_argument: its type is not hosted here
  void answer(AggregateAsked asked, AggregateDone done);

  [[nodiscard]] actors::AggregateFigures figures() const;
  /// What waits for a node.
  [[nodiscard]] std::size_t waiting() const;

  /// Refuses what comes with `unavailable` and answers what is under way here; what others were asked is waited for no
  /// longer. Idempotent.
  void stop(std::chrono::milliseconds grace = std::chrono::seconds(10));

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace evershard::cluster
