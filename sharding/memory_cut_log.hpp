// MemoryCutLog: a cut log without a disk, for tests and simulation; it loses what a disk would lose.

#pragma once

#include <map>
#include <optional>

#include "evershard/sharding/cut_log_rules.hpp"

namespace evershard::sharding {

class MemoryCutLog : public CutLog {
 public:
  /// What lies on the disk. A value: a copy of it is an old copy of the disk.
  struct Disk {
    explicit Disk(std::uint32_t shard_count) : rules(shard_count) {}
    CutLogRules rules;
    std::map<CutNumber, Cut> rows;
  };

  explicit MemoryCutLog(std::uint32_t shard_count) : disk_(shard_count) {}
  explicit MemoryCutLog(Disk disk) : disk_(std::move(disk)) {}

  Result<CutLogState> lead() override;
  Result<void> put(const Cut& cut) override;
  [[nodiscard]] Result<CutsFound> cuts_after(CutNumber after, std::size_t bytes_max) const override;
  Result<void> fold(Epoch epoch, std::span<const HeldBy> held) override;
  [[nodiscard]] const CutLogState& state() const override { return disk_.rules.state(); }

  // -- faults

  /// From now on nothing is synced: a broken promise, for tests that want to see it found.
  void stop_syncing() { synced_ = disk_; }
  /// Loss of power: what was not synced is gone.
  void crash();
  /// From now on every write fails, as on a broken disk.
  void fail() { failed_ = true; }
  [[nodiscard]] const Disk& disk() const { return disk_; }
  void restore(Disk disk) { disk_ = std::move(disk); }

 private:
  Disk disk_;
  std::optional<Disk> synced_;  ///< absent: everything is
  bool failed_ = false;
};

}  // namespace evershard::sharding
