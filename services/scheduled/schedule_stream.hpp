// ScheduleStream: what the stream of a scheduled append says of it.

#pragma once

#include <optional>

#include "evershard/api/scheduled_appends.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// Events of `$schedule-ID` in their order.
class ScheduleStream {
 public:
  /// Errors: corruption
  [[nodiscard]] Result<void> take(const RecordedEvent& event);
  [[nodiscard]] SeqNr version() const { return version_; }
  /// Nothing: nobody scheduled it, or it was removed.
  [[nodiscard]] const std::optional<ScheduledAppend>& scheduled() const { return scheduled_; }

 private:
  SeqNr version_;
  std::optional<ScheduledAppend> scheduled_;
};

}  // namespace evershard::cluster
