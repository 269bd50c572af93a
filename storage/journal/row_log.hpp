// The row log of a shard: what its writer writes beside the journal, and its followers have to write too: records with
// stubs, state rows of retention, snapshots that go, and those that are the only place of a state.
//
// Source: docs/internals/replication.md, "The row log"; docs/internals/on-disk-format.md.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/commit_batch.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

/// Which entry of a shard's log: one of a newer epoch is newer. All zero: before the first.
struct RowLogAt {
  Epoch epoch{};  ///< of the writer that made it
  std::uint64_t number = 0;
  friend auto operator<=>(const RowLogAt&, const RowLogAt&) = default;
};

/// What one commit wrote of one shard. Events are named by their offsets: the records that they lie in begin and end
/// elsewhere on other disks.
///
/// Shape: offsets ascend.
struct RowLogEntry {
  RowLogAt at{};
  std::vector<ShardOffset> removed{};
  std::vector<ShardOffset> erased{};
  std::vector<StateWrite> state{};
  std::vector<SnapshotsToGo> snapshots_to_go{};
  /// Their latest ones were written, or stand for what this entry removes.
  std::vector<AggregateId> snapshots{};

  /// Whose latest snapshots a follower has to have with this entry: of aggregates that were truncated too, since
  /// nothing else has their state any more.
  [[nodiscard]] std::vector<AggregateId> needs_snapshots() const;
  [[nodiscard]] bool has_snapshots_alone() const {
    return removed.empty() && erased.empty() && state.empty() && snapshots_to_go.empty();
  }
  /// Behind all events that it names.
  [[nodiscard]] ShardOffset end() const;
};

/// Of the rows, among the checkpoints and definitions, which a program that does not know them leaves alone.
inline constexpr std::string_view row_log_prefix = "$rows/";
inline constexpr std::string_view row_log_of_prefix = "$rows/of/";
inline constexpr std::string_view row_log_whole_prefix = "$rows/whole/";
[[nodiscard]] std::string row_log_key(ShardId shard, RowLogAt at);
[[nodiscard]] std::string row_log_prefix_of(ShardId shard);
/// Of a key's name. Absent: it is none of these.
[[nodiscard]] std::optional<ShardId> shard_of_row_log(std::string_view name);
/// The row of an entry, with its checksum.
[[nodiscard]] std::string encode_row_log(ShardId shard, const RowLogEntry& entry);
/// Errors: corruption; invalid_argument: a newer program's
[[nodiscard]] Result<RowLogEntry> decode_row_log(ShardId shard, std::string_view row);

/// Of an aggregate whose latest snapshot is in an entry: which one. The next one takes its place.
[[nodiscard]] std::string row_log_of_key(const AggregateId& aggregate);
/// Absent: of none, or the row is damaged. Errors: io
[[nodiscard]] Result<std::optional<RowLogAt>> row_log_at_of(const Rows& rows, const AggregateId& aggregate);
/// Errors: corruption: it is damaged, or another aggregate's
[[nodiscard]] Result<RowLogAt> decode_row_log_of(std::string_view key, std::string_view row);
/// What is written with an entry that has the aggregate's latest snapshot: that row, and the entry before goes, where
/// it had nothing else. Errors: io
[[nodiscard]] Result<std::vector<StateWrite>> row_log_of(const Rows& rows, ShardId shard, const AggregateId& aggregate,
                                                         RowLogAt at);

/// What the rows are, by shard. `of_state`: whose log has a state row; nothing: nobody's.
[[nodiscard]] std::map<ShardId, RowLogEntry> row_log_entries(
    const RowWrites& rows, const std::function<ShardId(const AggregateId&)>& of_aggregate,
    const std::function<std::optional<ShardId>(const StateWrite&)>& of_state);

/// What a disk has of a shard's log: of each epoch's writer all entries up to this number. Of an epoch that is not in
/// it, none.
using RowLogEnds = std::map<Epoch, std::uint64_t>;
/// Whether nothing that `other` has is missing.
[[nodiscard]] bool has_all(const RowLogEnds& ends, const RowLogEnds& other);
/// 0: none of that epoch.
[[nodiscard]] std::uint64_t number_of(const RowLogEnds& ends, Epoch epoch);

/// Errors: corruption, io
[[nodiscard]] Result<RowLogEnds> row_log_ends(const Rows& rows, ShardId shard);
/// That this disk had all of the shard's row log at some time since it was made, or since it learned the shard: what it
/// lacks it never had, and never answered for. A disk without it may have had anything.
[[nodiscard]] StateWrite row_log_whole(ShardId shard, Epoch under);
[[nodiscard]] std::string row_log_whole_key(ShardId shard);
/// Of all shards. Errors: corruption, io
[[nodiscard]] Result<std::set<ShardId>> whole_row_logs(const Rows& rows);
/// Errors: corruption
[[nodiscard]] Result<ShardId> decode_row_log_whole(std::string_view name, std::string_view value);
/// The rows of `after`'s epoch behind it, in order: about `bytes_max` of them, at least one; none that names an event
/// at `until` or behind it, nor what comes after that. Errors: corruption, io
struct RowLogRange {
  std::vector<std::string> rows{};
  bool more = false;  ///< that would fit
};
[[nodiscard]] Result<RowLogRange> row_log_range(const Rows& rows, ShardId shard, RowLogAt after, ShardOffset until,
                                                std::size_t bytes_max);

/// Entries of one shard as writes to this disk.
///
/// Shape: of one epoch, ascending, behind all that is here of that epoch.
class RowLogWrites {
 public:
  RowLogWrites(const Rows& rows, ShardId shard) : rows_(rows), shard_(shard) {}

  /// What is here and newer than the first entry that will be added or looked at. Errors: corruption, io
  [[nodiscard]] Result<void> look_behind(RowLogAt first);
  /// The aggregate's latest snapshot stays as it is here: so does its entry, whatever newer ones are added.
  void keeps(const AggregateId& aggregate) { newer_.snapshots.insert(aggregate); }
  /// The aggregate's latest snapshot is one that came with an older entry: that one takes the place of the one here.
  void gives_way(const AggregateId& aggregate) { newer_.snapshots.erase(aggregate); }
  /// The next entry; its own row too. Of one that is older than others that are here, what those wrote stays as it is:
  /// state rows and snapshots. Errors: corruption: an event that it names is not here, or its record is damaged;
  /// io. Nothing of it was taken then
  [[nodiscard]] Result<void> add(const RowLogEntry& entry);
  /// Whether the entry has nothing but snapshots, and newer entries that are here have those aggregates'. Nobody needs
  /// the entry any more. Errors: corruption, io
  [[nodiscard]] Result<bool> is_superseded(const RowLogEntry& entry);
  [[nodiscard]] RowWrites take();
  /// Whose latest snapshots entries that are here have, newer ones than those that were added or looked at.
  [[nodiscard]] const std::set<AggregateId>& newer_snapshots() const { return newer_.snapshots; }

 private:
  struct Record {
    std::string bytes;
    std::size_t bytes_before = 0;
  };
  [[nodiscard]] Result<void> stub(const std::vector<ShardOffset>& events, EventState to,
                                  std::map<ShardOffset, Record>& changed) const;

  /// What entries that are here and newer than those that are added wrote.
  struct Newer {
    std::set<std::string> keys{};
    std::set<AggregateId> snapshots{};
  };

  const Rows& rows_;
  const ShardId shard_;
  Newer newer_;
  bool looked_behind_ = false;             ///< once: no entry comes between
  std::map<ShardOffset, Record> records_;  ///< by their first offsets
  RowWrites writes_;
};

}  // namespace evershard::storage
