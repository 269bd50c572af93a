// SnapshotSlots: which rows a snapshot writes and which retained copies it removes.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "evershard/protocol/snapshot.hpp"
#include "evershard/protocol/timestamp.hpp"
#include "evershard/storage/journal/commit_batch.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

class RowSink;

/// Slot 0 is the latest and never expires; retained copies stand at their own version, the oldest go first.
///
/// Owner: the thread that stages. What it wrote and the store does not show yet, it remembers until `committed`.
class SnapshotSlots {
 public:
  explicit SnapshotSlots(const Rows& rows) : rows_(rows) {}

  /// Slot 0 where nothing newer stands there; a retained copy where `keep` is above 0; where `keep` is set, removes the
  /// copies beyond it and those expired at `taken_at`. Of a large state that is written again and again, slot 0 gets
  /// what changed since an earlier one, which lies beside it (latest_snapshot.hpp).
  ///
  /// A copy that cannot be read is no obstacle: one damaged row must not sink a commit. It is overwritten or stays.
  ///
  /// Cost: reads one row; where `keep` is set, all copies of the aggregate.
  void write(const Snapshot& snapshot, GlobalPosition position, Timestamp taken_at, RowSink& sink);

  /// Retained copies that have expired or are of too early a version, and slot 0 where it is wanted.
  void remove(const SnapshotsToGo& going, Timestamp now, RowSink& sink);

  /// Between two batches: how many batches were staged, how many of them are written.
  void batch(std::uint64_t staged, std::uint64_t committed);

 private:
  struct Pending {
    std::uint64_t batch;
    std::string key;
    SeqNr version;
    bool latest;
    bool erased;
    std::shared_ptr<const SnapshotBase> base{};  ///< of the latest, where that lies in two rows
  };
  /// What slot 0 will have, once all that is staged is written.
  struct Latest {
    SeqNr version;
    std::shared_ptr<const SnapshotBase> base;  ///< none: it lies in one row, or cannot be read
    bool two_rows = false;
  };
  [[nodiscard]] std::optional<Latest> latest_of(const AggregateId& aggregate, const std::string& key);
  [[nodiscard]] std::shared_ptr<const SnapshotBase> base_of(const AggregateId& aggregate, std::uint64_t checksum);
  void remember(const std::string& key, std::shared_ptr<const SnapshotBase> base);
  void put_latest(const Snapshot& snapshot, GlobalPosition position, Timestamp taken_at, std::string slot,
                  const std::optional<Latest>& before, RowSink& sink);
  struct Copy {
    SeqNr version;
    bool expired;
  };
  [[nodiscard]] std::map<std::string, Copy> copies_of(const AggregateId& aggregate, Timestamp now) const;
  void retain(const Snapshot& snapshot, Timestamp now, RowSink& sink);

  /// Its aggregate was removed as a whole, with it.
  [[nodiscard]] bool is_gone(const AggregateId& aggregate, SeqNr version) const;

  struct Gone {
    std::uint64_t batch;
    AggregateId aggregate;
    SeqNr below;
  };
  std::deque<Gone> gone_;  ///< whose rows are not written yet
  const Rows& rows_;
  std::uint64_t batch_ = 0;
  std::deque<Pending> pending_;
  std::map<std::string, std::shared_ptr<const SnapshotBase>> bases_;  ///< by the key of slot 0: those of the last ones
};

}  // namespace evershard::storage
