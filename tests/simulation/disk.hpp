// SimulatedDisk: a node's truth as a sequence of writes, of which a crash keeps what was synced and perhaps more.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "evershard/cluster/order/node_order.hpp"
#include "evershard/storage/journal/journal_append.hpp"
#include "tests/simulation/history.hpp"

namespace evershard::simulation {

/// One shard's part of an append, in the journal.
struct JournalRecord {
  /// Of an aggregate, once the event with that offset has its place.
  struct Snapshot {
    std::uint32_t aggregate = 0;
    SeqNr version;
    ShardOffset event;
    Fold::State state = 0;
  };
  ShardId shard;
  Epoch epoch;
  ShardOffset first;
  AppendId append = 0;
  std::vector<std::uint32_t> events;                       ///< which of the request
  std::shared_ptr<const storage::UnorderedAppend> real{};  ///< as the real writers wrote it
  std::vector<Snapshot> snapshots{};                       ///< what waits with it
  bool at_once = false;                                    ///< a rule that is off: they do not wait
  bool shipped = false;                                    ///< by another node, under `epoch`
};

struct SnapshotAt {
  SeqNr version;
  GlobalPosition position;
  Fold::State state = 0;
};

struct DiskShard {
  Epoch epoch;
  ShardOffset covered{1};
  ShardOffset tail{1};
  bool damaged = false;
  Epoch followed;           ///< the newest one whose writer is followed here
  GlobalPosition whole_to;  ///< damaged: up to here nothing is missing
  /// From there on it goes: what is placed, too.
  void give_up(ShardOffset from);
  [[nodiscard]] bool has_placed(ShardOffset from) const { return !offsets.empty() && offsets.rbegin()->second >= from; }
  std::map<ShardOffset, JournalRecord> records;  ///< by first offset
  std::map<GlobalPosition, EventAt> placed;
  std::map<GlobalPosition, SeqNr> versions;       ///< of what is placed, with the real writers
  std::map<GlobalPosition, ShardOffset> offsets;  ///< of the same
  std::map<std::uint32_t, SnapshotAt> snapshots;  ///< the latest of each aggregate
  std::set<std::uint32_t> bare;  ///< aggregates whose latest went with what was given up, and none came since
  /// What was given up lies in (after, up to], among others.
  std::vector<std::pair<GlobalPosition, GlobalPosition>> lost;
};

struct DiskState {
  CutNumber cut;
  GlobalPosition watermark;
  sharding::Leadership led{};
  std::map<ShardId, DiskShard> shards;
};

/// What the journal has of a shard from there on goes, and the epoch is followed.
struct TakeOff {
  ShardId shard;
  ShardOffset from;
  Epoch followed;
};

class SimulatedDisk {
 public:
  using Write = std::variant<JournalRecord, cluster::NodeStep::Apply, TakeOff>;

  void write(Write write);
  [[nodiscard]] std::size_t writes() const { return writes_.size(); }
  /// Everything up to this write survives.
  void sync(std::size_t writes);
  /// What survives of a shard's journal, and the first offset that no cut covers there.
  struct Synced {
    std::map<ShardOffset, JournalRecord> records;
    ShardOffset tail{1};
    ShardOffset covered{1};
    bool damaged = false;
    Epoch epoch;  ///< or the one that is followed
    [[nodiscard]] std::optional<EventAt> at(ShardOffset offset) const;
  };
  [[nodiscard]] const Synced& synced(ShardId shard) const;
  /// The last cut applied that survives.
  [[nodiscard]] CutNumber synced_cut() const { return synced_ == 0 ? CutNumber{0} : cuts_[synced_ - 1]; }
  /// Keeps the first `writes` of them. Shape: not less than what was synced.
  void crash(std::size_t writes);
  /// A rule that is off: what waits with appends that no cut covers is forgotten.
  void forget_waiting();
  [[nodiscard]] std::size_t synced() const { return synced_; }
  [[nodiscard]] const DiskState& state() const { return state_; }

 private:
  void follow(const Write& write);
  void keep(const Write& write);
  std::vector<Write> writes_;
  std::vector<CutNumber> cuts_;  ///< after each of them
  std::size_t synced_ = 0;
  DiskState state_;
  std::map<ShardId, Synced> kept_;
};

}  // namespace evershard::simulation
