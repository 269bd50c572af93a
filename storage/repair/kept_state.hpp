// KeptState: which state rows a copy of a store has that ends at an earlier position.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

/// Given the rows in order of key, gives those that stay: snapshots of versions the copy has, and other owners' rows.
/// Identity and applied row are made anew by whoever copies.
///
/// Where the latest snapshot of an aggregate goes, the newest retained copy that stays is the latest again, as it was
/// then.
class KeptState {
 public:
  using Put = std::function<void(std::string_view key, std::string_view value)>;
  /// What a copy that ends at a position has of an aggregate.
  struct Left {
    SeqNr version{};  ///< its last event there; 0: none
    SeqNr gone{};     ///< the last of them whose content was removed; 0: none
  };
  /// Of aggregates of which something was removed.
  using LeftOf = std::map<AggregateId, Left>;
  struct Options {
    GlobalPosition keeps;  ///< the copy ends here
    /// Checkpoints stay. Not where events are cut off: one that stood behind the end would skip what is appended there.
    bool checkpoints = true;
    /// Absent: nobody knows. What was removed later is hidden in the copy too: nothing but stubs of it is there.
    const LeftOf* left = nullptr;
    /// Called for aggregates whose state cannot be made in the copy: events are gone, and the snapshots that stand for
    /// them are of later versions. May be absent. Needs `left`.
    std::function<void(const AggregateId& aggregate)> without_state{};
  };
  KeptState(Options options, Put put) : options_(std::move(options)), put_(std::move(put)) {}

  /// Shape:  a snapshot that lies in two rows is given as one (whole_state_row()).
  /// Errors: corruption: the row cannot be read, and is left out
  Result<void> take(std::string_view key, std::string_view value);
  /// After the last row.
  void finish();

 private:
  Result<void> take_named(std::string_view key, std::string_view value, std::string_view name);
  [[nodiscard]] const Left* left_of(const AggregateId& aggregate) const;

  struct Retained {
    RecordedSnapshot snapshot;
    std::optional<std::uint32_t> keep;
  };

  const Options options_;
  const Put put_;
  AggregateId aggregate_;           // whose snapshots these are
  SeqNr stood_for_, stands_for_;    // its newest snapshot in the source, in the copy
  bool lost_latest_ = false;        // its slot 0 does not stay
  std::optional<Retained> newest_;  // of the retained copies that do
};

/// A row of the state as a copy has it: of a snapshot that lies in two rows, what one row has. Where that cannot be
/// read, the row as it is. Errors: io
[[nodiscard]] Result<std::string> whole_state_row(const Rows& from, std::string_view key, std::string_view value);

/// Of what something was removed, before an event of the copy was looked at. Errors: corruption, io
[[nodiscard]] Result<KeptState::LeftOf> left_where_removed(const Rows& from);
/// An event that the copy has.
void note_kept(const EventView& event, KeptState::LeftOf& left);

}  // namespace evershard::storage
