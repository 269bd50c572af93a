// CutLog: the cuts, in one sequence, whoever makes them. It decides who leads and who owns.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/cut_log_state.hpp"

namespace evershard::sharding {

/// A node has applied all cuts up to this one that name its shards, and synced that.
struct HeldBy {
  std::uint32_t node = 0;
  CutNumber cut;
  friend bool operator==(const HeldBy&, const HeldBy&) = default;
};

/// Cuts behind some number, ascending. Those that are missing before the last of them, or before the checkpoint, name
/// only shards whose keepers hold them, or were away and are given them by another one.
struct CutsFound {
  std::vector<Cut> cuts;
  std::optional<CutLogState> folded;  ///< the checkpoint, where it lies behind the number asked for
  bool more = false;                  ///< there are further cuts: ask again from the last of `cuts`

  /// Whether who has applied `cuts` stands at the checkpoint, or behind it.
  [[nodiscard]] bool reaches_checkpoint() const {
    return folded && (!more || (!cuts.empty() && cuts.back().number >= folded->last_cut));
  }
  friend bool operator==(const CutsFound&, const CutsFound&) = default;
};

/// Implementations: RocksCutLog (storage/, durable), MemoryCutLog (tests, simulation). Both pass
/// tests/contract/cut_log_contract.hpp, which states in full what follows; both decide by CutLogRules.
/// Owner:  one thread.
/// Source: docs/internals/ordering.md, rule 1.
class CutLog {
 public:
  virtual ~CutLog() = default;

  /// Raises the epoch, under an identity drawn at random. A coordinator that led before can put nothing any more.
  ///
  /// Returns: the state, under the new epoch.
  /// Errors:  io
  /// Durable: on return.
  virtual Result<CutLogState> lead() = 0;
  /// Takes the record if it is of the newest epoch and the next number.
  ///
  /// Errors:  fenced      somebody else leads, or the number is taken: this coordinator is at its end
  ///          corruption  it does not join on to what the log has
  ///          io          the log has failed for good; the outcome of this put is unknown
  /// Durable: on return.
  virtual Result<void> put(const Cut& cut) = 0;
  /// At least one cut where there is one, and as many as have about `bytes_max`. Errors: corruption, io
  [[nodiscard]] virtual Result<CutsFound> cuts_after(CutNumber after, std::size_t bytes_max) const = 0;
  /// Makes a checkpoint of the state, and gives up the cuts that are held by all who keep the shards they name. A node
  /// that is not mentioned holds nothing: what names its shards stays.
  /// Errors: fenced (not the newest epoch), io
  virtual Result<void> fold(Epoch epoch, std::span<const HeldBy> held) = 0;
  [[nodiscard]] virtual const CutLogState& state() const = 0;
};

}  // namespace evershard::sharding
