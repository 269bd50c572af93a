// Replay: from a snapshot and events to a state; nothing is trusted that does not fit.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "evershard/actors/entity/aggregate_journal.hpp"
#include "evershard/actors/model/kind.hpp"

namespace evershard::actors {

/// What became of the snapshot that was found.
enum class SnapshotUse : std::uint8_t {
  none,  ///< there was none
  used,
  other_revision,  ///< the rest: skipped, and everything was replayed
  undecodable,
  damaged,
  ahead,  ///< the stream does not have its event, or has another one there
};

/// A state and where it stands.
struct Replayed {
  StatePtr state;
  SeqNr version;            ///< 0: the aggregate has no events
  GlobalPosition position;  ///< of the event that made the version
  std::uint64_t replayed = 0;
  SnapshotUse snapshot = SnapshotUse::none;
  SeqNr snapshot_version;       ///< where `used`
  std::uint64_t loaded_at = 0;  ///< AggregateJournal::erasures(), before anything of it was read
  bool of_subjects = false;     ///< something of it is somebody's
};

/// Takes a snapshot, then pages of the stream.
///
/// Events count strictly after the snapshot's seq_nr. The snapshot's own event is read, to see that it is there, and
/// not applied. Where the aggregate was removed, its state begins anew behind the event that says so.
///
/// Errors: corruption: an event of unknown type, one that cannot be applied, a gap. not_found: events that were removed
///         or erased are needed, since no usable snapshot stands behind them. Then there is no state.
/// Owner:  any one thread.
class Replay {
 public:
  Replay(const AggregateKind& kind, AggregateId aggregate);

  /// Errors: what the look-up failed with, but for corruption: a damaged snapshot is skipped.
  [[nodiscard]] Result<void> begin(Result<std::optional<RecordedSnapshot>> found);
  /// Where the next page begins.
  [[nodiscard]] SeqNr from() const { return from_; }
  /// Returns: whether that was all.
  [[nodiscard]] Result<bool> page(const Page& page);
  /// Shape: page() said so.
  [[nodiscard]] Replayed take() { return std::move(at_); }

 private:
  void restart(SnapshotUse because);
  [[nodiscard]] Result<void> apply(const RecordedEvent& event);
  [[nodiscard]] Refused missing() const;

  const AggregateKind& kind_;
  const AggregateId aggregate_;
  Replayed at_;
  SeqNr from_{1};
  std::optional<SeqNr> removed_;            ///< the first removed event that no snapshot makes up for
  std::optional<GlobalPosition> unproven_;  ///< a snapshot's place, until its event was seen
};

/// The whole of it. Blocks on the disk: a reader thread's work. Absent `up_to`: as it is now.
[[nodiscard]] Result<Replayed> replay(const AggregateKind& kind, const AggregateJournal& journal,
                                      const AggregateId& aggregate, std::optional<GlobalPosition> up_to = {});

struct ToReplay {
  const AggregateKind* kind;
  AggregateId aggregate;
};
/// Many at once, as of now: their events are read together. Blocks on the disk.
[[nodiscard]] std::vector<Result<Replayed>> replay_all(const AggregateJournal& journal,
                                                       std::span<const ToReplay> aggregates);

/// An aggregate's encoded state.
struct EncodedState {
  std::string payload;
  PayloadFormat format = PayloadFormat::unspecified;
  SeqNr version;
  GlobalPosition position;
};

/// Reading without the entity: what is stored now (`eventual`), or as of any position; the entity is not disturbed.
/// Blocks on the disk.
[[nodiscard]] Result<EncodedState> state_at(const AggregateKind& kind, const AggregateJournal& journal,
                                            const AggregateId& aggregate, std::optional<GlobalPosition> up_to = {});

}  // namespace evershard::actors
