// RecordRewrite: a record as it will be, with stubs in the place of events; and how they are made.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/index/found_event.hpp"
#include "evershard/storage/journal/commit_batch.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::storage {

/// What some rewriting does, or would do.
struct RewriteFigures {
  std::uint64_t events = 0;        ///< that were not removed before
  std::uint64_t records = 0;       ///< that change
  std::uint64_t bytes_before = 0;  ///< of those records
  std::uint64_t bytes_after = 0;

  RewriteFigures& operator+=(const RewriteFigures& more);
};

/// Whether this is an event to be removed. Errors: it is not what the index says; nothing is rewritten then
using IsToGo = std::function<Result<bool>(const EventView& event, const FoundEvent& found)>;

/// The records of these events, with stubs (`to`: removed or erased) in the place of those that are to go; records that
/// stay as they are left out.
///
/// Shape:  events of one record follow each other, as they do in order of seq_nr or position of one append.
/// Owner:  nobody else rewrites records meanwhile; appends go on.
/// Errors: corruption, io
Result<std::vector<RecordRewrite>> rewritten(const Rows& rows, std::span<const FoundEvent> events,
                                             const IsToGo& is_to_go, RewriteFigures& figures,
                                             EventState to = EventState::removed);

/// An aggregate's events below a seq_nr, a batch of records at a time, from the first on.
class StreamRemoval {
 public:
  /// `view`: has all of them.
  StreamRemoval(const Store& store, const View& view, AggregateId aggregate, SeqNr from, SeqNr before);
  /// The next records, about `bytes` of them as they are now; only those that change. Errors: corruption, io
  Result<std::vector<RecordRewrite>> next(std::size_t bytes);
  [[nodiscard]] bool at_end() const { return next_ >= before_; }
  [[nodiscard]] SeqNr at() const { return next_; }
  [[nodiscard]] const RewriteFigures& figures() const { return figures_; }

 private:
  const Store& store_;
  const View view_;
  const AggregateId aggregate_;
  SeqNr next_;
  const SeqNr before_;
  RewriteFigures figures_;
};

}  // namespace evershard::storage
