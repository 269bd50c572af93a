// CopiedAppends: events as they are read, put together again as the appends they were.

#pragma once

#include <cstdint>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/services/copy/copy_filter.hpp"

namespace evershard::cluster {

/// What the filter takes of one append of the source.
struct CopiedAppend {
  GlobalPosition last;         ///< of the source's append, with what the filter does not take
  std::vector<Event> events;   ///< not empty
  std::vector<SeqNr> seq_nrs;  ///< which they had there; one an event
};

/// Holds back what may not be whole yet: a page may end inside of an append.
class CopiedAppends {
 public:
  explicit CopiedAppends(CopyFilter filter) : filter_(std::move(filter)) {}

  /// In order of position. Returns: the append before it, where that ends here.
  [[nodiscard]] std::vector<CopiedAppend> take(std::vector<RecordedEvent> events);
  /// Everything up to here was read. Returns: the last append, where it is whole.
  [[nodiscard]] std::vector<CopiedAppend> read_up_to(GlobalPosition position);
  /// Every event up to here was given out, or is none that the filter takes.
  [[nodiscard]] GlobalPosition given() const { return given_; }
  /// Events that match, but whose content was removed or erased.
  [[nodiscard]] std::uint64_t gone() const { return gone_; }

 private:
  void give(std::vector<CopiedAppend>& to);

  CopyFilter filter_;
  CopiedAppend open_;
  GlobalPosition first_{};  ///< of the open append, in the source
  GlobalPosition given_{};
  std::uint64_t gone_ = 0;
};

}  // namespace evershard::cluster
