#include "evershard/services/scheduled/schedule_stream.hpp"

#include <utility>

#include "evershard/protocol/scheduled.hpp"

namespace evershard::cluster {

Result<void> ScheduleStream::take(const RecordedEvent& event) {
  version_ = event.seq_nr;
  if (event.state == EventState::removed || !event.aggregate) return {};
  if (event.type == append_scheduled_type) {
    ScheduledAppend scheduled;
    scheduled.id = event.aggregate->value;
    scheduled.position = event.position;
    scheduled.scheduled_at = event.occurred_at;
    if (event.state == EventState::live) {
      auto at = decode_scheduled(event.payload);
      if (!at) return refuse(std::move(at).error());
      scheduled.due = at->due;
      scheduled.append = std::move(at->append);
    }
    scheduled_ = std::move(scheduled);
    return {};
  }
  if (event.type != schedule_settled_type || !scheduled_) return {};
  auto settled = decode_settled(event.payload);
  if (!settled) return refuse(std::move(settled).error());
  scheduled_->state = settled->state;
  scheduled_->settled_at = event.occurred_at;
  scheduled_->refusal = std::move(settled->refusal);
  if (settled->state == ScheduledState::appended) {  // its own events stand in front of the one that says so
    scheduled_->first_position = event.position - event.append_index;
    scheduled_->last_position = event.position - 1;
  }
  return {};
}

}  // namespace evershard::cluster
