// DueAppends: scheduled appends as the store's events set them, and what is appended when one is due.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/actors/timers/paced_queue.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

struct DueAppendsFigures {
  std::uint64_t pending = 0;  ///< with those under way
  std::uint64_t overdue = 0;  ///< of the pending: to be tried again
  std::uint64_t appended = 0;
  std::uint64_t refused = 0;
  std::uint64_t failed = 0;   ///< tries
  std::uint64_t damaged = 0;  ///< events of schedules that cannot be read: passed over
  std::uint64_t late_us = 0;  ///< how late the last append was when it was answered
};

/// As `stats` shows them: name and figure.
[[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> scheduled_figures(const DueAppendsFigures& figures);

/// An append is made together with the event that says so, on the condition that its schedule stands as it was read: so
/// it is made once, whoever makes it, however often. What cannot be made is settled as refused, on the same condition.
///
/// Events come in the order of their positions. Owner: one thread at a time. Knows no clock and no store.
class DueAppends {
 public:
  explicit DueAppends(actors::PaceOptions pace = {}) : queue_(pace) {}

  [[nodiscard]] static Query query();
  /// Errors: corruption: the event cannot be read; it changes nothing
  [[nodiscard]] Result<void> event(const RecordedEvent& event);
  [[nodiscard]] actors::PacedQueue& queue() { return queue_; }
  [[nodiscard]] const actors::PacedQueue& queue() const { return queue_; }

  /// `set`: the event that scheduled it, as it is stored. Returns: what is to be appended; nothing: it is dropped, or
  /// tried again.
  [[nodiscard]] std::optional<Append> fire(const actors::DueTimer& timer, const Result<RecordedEvent>& set,
                                           Timestamp now);
  /// What came of it. Returns: what is to be appended then: that it was refused; its answer comes here too.
  [[nodiscard]] std::optional<Append> answered(const actors::DueTimer& timer, const Append& sent,
                                               const Result<Appended>& answer, Timestamp now);

  /// What says that it was cancelled or refused, of one that stands at this version. `refusal`: null: cancelled.
  [[nodiscard]] static Append settled(const AggregateId& schedule, SeqNr version, const Error* refusal);

  [[nodiscard]] DueAppendsFigures figures() const;

 private:
  void failed(const actors::DueTimer& timer, Timestamp now);

  actors::PacedQueue queue_;
  DueAppendsFigures figures_;
};

}  // namespace evershard::cluster
