// EventCursor: gives events in the order asked for.

#pragma once

#include <cstddef>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/recorded_view.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::storage {

/// One thread. Holds its view: keep it for pages, not for hours.
class EventCursor {
 public:
  virtual ~EventCursor() = default;
  /// Appends up to so many events, or about so many bytes (one event at least); nothing appended is the end.
  ///
  /// Errors: corruption (shard, offset), io. What was read before a damaged event was given out before: the error is
  ///         the answer of a call of its own, and of every one that follows.
  Result<void> next(std::size_t events_max, std::size_t bytes_max, std::vector<RecordedEvent>& out) {
    return visit(events_max, bytes_max, [&out](const RecordedView& event) { out.push_back(event.event()); });
  }
  /// The same, of events that are not built.
  virtual Result<void> visit(std::size_t events_max, std::size_t bytes_max, const RecordedVisitor& visitor) = 0;
  /// The same without their payloads: positions only. For benchmarks and counts; not compared with the records.
  virtual Result<std::size_t> next_positions(std::size_t events_max, std::vector<GlobalPosition>& out) = 0;
  [[nodiscard]] virtual bool at_end() const = 0;
};

/// What an event takes of a page.
std::size_t bytes_of(const RecordedView& event);

}  // namespace evershard::storage
