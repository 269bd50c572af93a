// Verification: the passes of verify over the rows of one view; what recover looks at too.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/index/index_sums.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/journal/view.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/progress.hpp"
#include "evershard/storage/repair/findings.hpp"
#include "evershard/storage/repair/truth_walk.hpp"

namespace evershard::storage {

/// First the truth, event by event, then each index beside the sums the truth gave; where a sum differs, a second pass
/// over the stretches of positions that do, with all their entries side by side.
class Verification final : private TruthVisitor {
 public:
  struct Subject {
    const Rows& rows;
    sharding::TermHasher hasher;
    std::uint32_t shards = 0;
    View view;
    /// Events above it are in no index that is looked at. With all tails in the view: the watermark.
    GlobalPosition indexed;
    /// Nobody writes to the store meanwhile: what the indexes have behind their mark is no seal's that has just begun.
    bool still = false;
  };
  struct Missing {
    GlobalPosition from;
    std::uint64_t count = 0;
    bool cut = false;
  };
  Verification(Subject subject, Findings& findings)
      : subject_(std::move(subject)), findings_(findings), entries_(subject_.hasher), sums_(subject_.indexed) {}

  /// Errors of each: cancelled, unavailable
  Result<void> truth(const Progress& progress);
  /// Shape: after truth().
  Result<void> indexes(const Progress& progress);
  Result<void> state(const Progress& progress);

  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }
  [[nodiscard]] std::uint64_t index_rows() const { return index_rows_; }
  [[nodiscard]] std::uint64_t snapshots() const { return snapshots_; }
  /// A rebuild would make another index than the one that is there.
  [[nodiscard]] bool indexes_differ() const { return indexes_differ_; }
  /// Snapshots that are none: keys of the family state.
  [[nodiscard]] const std::vector<std::string>& damaged_snapshots() const { return damaged_snapshots_; }
  /// Other rows of the family state, a sentence each, the first ones.
  [[nodiscard]] const std::vector<std::string>& damaged_state() const { return damaged_state_; }
  /// By position.
  [[nodiscard]] const std::vector<Missing>& missing_events() const { return missing_; }

 private:
  static constexpr std::uint64_t rows_between_reports = 4'096;

  struct TailStream {
    sharding::Term term;
    std::string_view text;
    SeqNr first_seq_nr;
    std::uint64_t events;
    GlobalPosition first, last;
  };
  struct StreamEnd {
    SeqNr next{1};
    GlobalPosition last;
  };

  void event(GlobalPosition position, const EventLocation& location, const EventView& event) override;
  void cut(const sharding::Cut& cut) override;
  void record(ShardId, ShardOffset, std::string_view) override { ++records_; }
  void missing(GlobalPosition from, std::uint64_t count, const std::string& why) override;
  void missing_cut(GlobalPosition from, std::uint64_t count, const std::string& why) override;
  void contradiction(const std::string& what) override { findings_.add(what); }
  void note_missing(GlobalPosition from, std::uint64_t count, bool cut, const std::string& why);

  [[nodiscard]] bool counts(const IndexEntry& entry) const;
  [[nodiscard]] bool is_missing(GlobalPosition position) const;
  [[nodiscard]] bool keeps_no_longer(ShardId shard) const;
  Result<void> sealed(Family family, const EntrySink& sink, bool first_pass, const Progress& progress);
  Result<void> compare(Family family, const Progress& progress);
  Result<void> compare_stretches(Family family, const std::vector<std::size_t>& stretches, const Progress& progress);
  Result<void> compare_directory(const Progress& progress);
  [[nodiscard]] bool is_newer(sharding::Term stream) const;
  void index_error(std::string sentence, std::uint64_t errors = 1);

  void collect_tail_streams();
  void stream_row(const StreamRow& row);
  void go_to_term(std::optional<sharding::Term> term);
  void check_stream(std::string_view text, SeqNr first_seq_nr, std::uint64_t events, GlobalPosition first,
                    GlobalPosition last);
  Result<void> named_row(std::string_view name, std::string_view value);
  Result<void> removal_row(std::string_view name, std::string_view value);
  void check_covered();
  Result<void> state_row(std::string_view key, std::string_view value);

  const Subject subject_;
  Findings& findings_;
  EventEntries entries_;
  IndexSums sums_;
  std::uint64_t events_ = 0, records_ = 0, index_rows_ = 0, snapshots_ = 0;
  bool indexes_differ_ = false;
  bool indexes_right_ = false;  ///< all indexes were looked at
  std::vector<std::string> damaged_snapshots_, damaged_state_;
  std::array<bool, family_count> unreadable_{};
  GlobalPosition behind_mark_{};  // the last position that an index has behind its mark; 0: none
  std::vector<Missing> missing_;
  std::vector<GlobalPosition> removed_;
  std::map<ShardId, ShardOffset> placed_;  // of a node's shards: behind the last offset that a cut here names
  std::map<ShardId, Covered> covered_;
  std::vector<TailStream> tail_streams_;  // by term, then text, then position
  std::size_t tail_streams_at_ = 0;
  sharding::Term term_ = 0;
  std::map<std::string, StreamEnd, std::less<>> streams_;  // of this term
};

}  // namespace evershard::storage
