// Writer: what a node of the simulation takes appends with. ModelWriter is a small one; a real one fits in its place.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "evershard/cluster/order/node_order.hpp"
#include "evershard/sharding/reports.hpp"
#include "tests/simulation/disk.hpp"
#include "tests/simulation/history.hpp"
#include "tests/simulation/rules.hpp"

namespace evershard::simulation {

struct WriterActions {
  std::vector<JournalRecord> write;  ///< to be written, then synced, in the sequence of all writes
  std::vector<sharding::Report> reports;
  struct Answer {
    enum class Kind : std::uint8_t { placed, refused, durable } kind{};
    AppendId append = 0;
    GlobalPosition position;  ///< placed: of the first event on this shard
    std::uint32_t event = 0;  ///< placed: which event of the request that is
  };
  std::vector<Answer> answers;
};

/// The writers of all shards of one process. Input in, actions out.
class Writer {
 public:
  using Actions = WriterActions;
  virtual ~Writer() = default;
  virtual Actions opened(const sharding::Opening& opening, const DiskShard& disk) = 0;
  virtual Actions fenced(ShardId shard) = 0;
  /// The part of an append that lies on the shard; again, perhaps.
  virtual Actions submit(ShardId shard, AppendId append) = 0;
  /// What was given to write() up to this offset of the shard survives.
  virtual Actions synced(ShardId shard, ShardOffset until) = 0;
  virtual Actions report_again(ShardId shard, Epoch epoch, ShardOffset first) = 0;
  virtual Actions applied(const cluster::NodeStep::Apply& apply) = 0;
};

/// Plain and conditional appends on one and several shards; no versions, no second tries of its own.
class ModelWriter final : public Writer {
 public:
  ModelWriter(const History& history, Off off) : history_(history), off_(off) {}
  Actions opened(const sharding::Opening& opening, const DiskShard& disk) override;
  Actions fenced(ShardId shard) override;
  Actions submit(ShardId shard, AppendId append) override;
  Actions synced(ShardId shard, ShardOffset until) override;
  Actions report_again(ShardId shard, Epoch epoch, ShardOffset first) override;
  Actions applied(const cluster::NodeStep::Apply& apply) override;

 private:
  struct Shard {
    Epoch epoch;
    ShardOffset tail{1};
    ShardOffset durable{1};
    std::map<ShardOffset, JournalRecord> undecided;
    std::set<AppendId> seen;
  };
  [[nodiscard]] sharding::Report report(ShardId id, const Shard& shard, ShardOffset from) const;
  [[nodiscard]] sharding::ReportedAppend reported(const JournalRecord& record) const;

  const History& history_;
  Off off_;
  std::map<ShardId, Shard> open_;
};

}  // namespace evershard::simulation
