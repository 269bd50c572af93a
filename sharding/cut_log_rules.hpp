// CutLogRules: what a cut log takes, and what it may give up. Knows no disk.

#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "evershard/sharding/cut_log.hpp"

namespace evershard::sharding {

/// Source: docs/internals/ordering.md, rule 1.
class CutLogRules {
 public:
  /// Of a log that was just made.
  explicit CutLogRules(std::uint32_t shard_count) : state_(shard_count), checkpoint_(shard_count) {}
  /// Of a log that is read back: `checkpoint`, then kept() of each older row, then taken() of each newer one, then
  /// read_back().
  explicit CutLogRules(CutLogState checkpoint) : state_(checkpoint), checkpoint_(std::move(checkpoint)) {}

  [[nodiscard]] const CutLogState& state() const { return state_; }
  [[nodiscard]] const CutLogState& checkpoint() const { return checkpoint_; }

  [[nodiscard]] Epoch next_epoch() const { return state_.epoch + 1; }
  /// Shape: `newest` is of next_epoch().
  void leads(Leadership newest) {
    state_.epoch = newest.epoch;
    add_leadership(state_.leaderships, std::move(newest));
  }
  /// What the log says of it, read back.
  void led(Epoch epoch, Leaderships leaderships) {
    state_.epoch = epoch;
    state_.leaderships = std::move(leaderships);
  }

  /// Errors: fenced, corruption; see CutLog::put()
  [[nodiscard]] Result<void> check_put(const Cut& cut) const;
  /// Shape: check_put(), or read back.
  void taken(const Cut& cut);
  /// A row at or before the checkpoint that was not given up. Errors: corruption
  [[nodiscard]] Result<void> kept(const Cut& cut);
  /// All rows are there: from them follows what was folded.
  void read_back();

  struct Folding {
    CutLogState checkpoint;
    std::vector<CutNumber> given_up;
  };
  /// Errors: fenced
  [[nodiscard]] Result<Folding> fold(Epoch epoch, std::span<const HeldBy> held) const;
  void folded(const Folding& folding);

 private:
  [[nodiscard]] Result<void> check_leads(Epoch epoch) const;

  CutLogState state_;
  CutLogState checkpoint_;
  std::map<CutNumber, std::vector<NamedShard>> rows_;  ///< those there are, with the shards they name
};

}  // namespace evershard::sharding
