// TruthCopy: order, journal and state of a store up to a position, into a new database.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/options.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::storage {

struct TruthCopyOptions {
  /// The copy ends here: the end of an append, or 0. The cut it lies in, and its records, end there too.
  GlobalPosition keeps;
  /// Where the source ends; as far as anybody knows.
  GlobalPosition end;
  /// What is damaged or missing is left out without a word: for recover(), which has said it before. Else it is an
  /// error.
  bool leave_out_damage = false;
  /// Called for each snapshot that cannot be read and is left out: its key in the family state. Absent: an error too.
  std::function<void(std::string_view key)> snapshot_left_out{};
  bool compact = false;  ///< it is kept to be copied once more, not to be opened: smaller files, slower look-ups
  /// Called for aggregates whose state cannot be made in the copy (KeptState). May be absent.
  std::function<void(const AggregateId& aggregate)> without_state{};
};

/// Takes what of a store is copied: cuts in order, records in order of each shard, then state rows in order of key.
class TruthSink {
 public:
  virtual ~TruthSink() = default;
  virtual void cut(const sharding::Cut& cut) = 0;
  virtual void record(ShardId shard, ShardOffset first, std::string_view bytes) = 0;
  virtual void state(std::string_view key, std::string_view value) = 0;
  /// Errors: io: something could not be written; the copying ends with that
  [[nodiscard]] virtual Result<void> written() const = 0;
};

/// Order, journal and state; of the state what copy_truth() says, but neither identity nor applied row.
///
/// Errors: cancelled, corruption (of what is to be kept: the first place), those of the sink
Result<void> copy_truth_to(const Rows& from, std::uint32_t shards, const TruthCopyOptions& how, TruthSink& to,
                           const Progress& progress);

/// Of the state: snapshots up to `keeps`; checkpoints, unless events are cut off. The copy is a fork of its own; it has
/// no indexes.
///
/// Shape:  the folder is not there.
/// Errors: cancelled, corruption (of what is to be kept: the first place), io
/// Cost:   reads all of it once, and checks every event.
Result<void> copy_truth(const Rows& from, const Identity& identity, const TruthCopyOptions& how,
                        const StoreOptions& options, const std::filesystem::path& folder, const Progress& progress);

}  // namespace evershard::storage
