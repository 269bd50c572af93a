// TailRebuild: reads back into the tail what was not sealed, by walking the cuts after the mark.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/runs.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/index/tails.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::storage {

/// Goes through the cuts in groups: of a group, first each shard's records in order of offset, then the events in order
/// of position. What it holds is bounded by the group's events, not by their payloads.
class TailRebuild {
 public:
  struct Options {
    std::uint32_t shards = 0;
    bool whole = true;  ///< see View
    /// Of a group, about: whole cuts. Tails are switched between groups.
    std::uint64_t group_events = 16'384;
    /// An event whose record is damaged or missing: an error, or (true) an event that no index finds.
    bool skip_damaged = false;
    /// Called when both tails are full, to seal one.
    std::function<Result<void>()> make_room;
    Progress progress{};  ///< in events, after each group
  };
  TailRebuild(const Rows& rows, const sharding::TermHasher& hasher, Tails& tails, Options options);

  /// Everything from the mark of the tails up to `watermark`; shows it.
  ///
  /// Errors: corruption: a cut or a record is missing, out of sequence or damaged: named; cancelled, io
  /// Cost:   about 1 us an event.
  Result<void> run(GlobalPosition watermark);
  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }

 private:
  struct Entry {
    TailEvent event;  // without its spans
    std::uint32_t terms_begin = 0;
    std::uint32_t terms_end = 0;
    std::uint32_t text_begin = 0;
    std::uint32_t text_end = 0;
    bool known = false;
  };
  Result<void> add_group();
  Result<void> end_tail();
  Result<void> gather(ShardId shard, std::size_t begin, std::size_t end);
  Result<void> take(const Result<RecordView>& record, ShardOffset offset, const sharding::Run& run);
  void take_event(const EventView& view, Entry& entry);
  Result<void> missing(const sharding::Run& run, ShardOffset offset);

  const Rows& rows_;
  const sharding::TermHasher hasher_;
  Tails& tails_;
  const Options options_;
  GlobalPosition group_first_;
  std::uint64_t group_events_ = 0;
  std::vector<sharding::Run> runs_;
  std::vector<Entry> entries_;
  std::vector<sharding::Term> terms_;
  std::string texts_;
  std::uint64_t damaged_ = 0;
};

}  // namespace evershard::storage
