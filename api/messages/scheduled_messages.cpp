#include "evershard/api/messages/scheduled_messages.hpp"

namespace evershard::messages {

void put(const ScheduleOrder& from, pb::ScheduleRequest& to) {
  to.set_id(from.id);
  if (from.due) to.set_due_us(from.due->micros);
  if (from.after) to.set_after_us(from.after->count());
  put(from.append, *to.mutable_append());
  to.set_replace(from.replace);
}

void put(const ScheduledAppend& from, pb::ScheduledAppend& to) {
  to.set_id(from.id);
  to.set_state(static_cast<pb::ScheduledState>(from.state));
  to.set_due_us(from.due.micros);
  to.set_scheduled_us(from.scheduled_at.micros);
  if (from.settled_at) to.set_settled_us(from.settled_at->micros);
  if (from.append) put(*from.append, *to.mutable_append());
  to.set_position(from.position.value);
  to.set_first_position(from.first_position.value);
  to.set_last_position(from.last_position.value);
  if (from.refusal) put(*from.refusal, *to.mutable_refusal());
  to.set_duplicate(from.duplicate);
}

Result<void> get(pb::ScheduleRequest& from, ScheduleOrder& to) {
  to.id = from.id();
  if (from.when_case() == pb::ScheduleRequest::kDueUs) to.due = Timestamp{from.due_us()};
  if (from.when_case() == pb::ScheduleRequest::kAfterUs) to.after = std::chrono::microseconds(from.after_us());
  if (!from.has_append()) return refuse(ErrorCode::invalid_argument, "append is missing");
  to.replace = from.replace();
  return get(*from.mutable_append(), to.append);
}

Result<void> get(pb::ScheduledAppend& from, ScheduledAppend& to) {
  if (from.state() < pb::SCHEDULED_STATE_PENDING || from.state() > pb::SCHEDULED_STATE_CANCELLED)
    return refuse(ErrorCode::invalid_argument, "state is " + std::to_string(from.state()) + ", which is not known");
  to.id = from.id();
  to.state = static_cast<ScheduledState>(from.state());
  to.due = Timestamp{from.due_us()};
  to.scheduled_at = Timestamp{from.scheduled_us()};
  if (from.settled_us() != 0) to.settled_at = Timestamp{from.settled_us()};
  if (from.has_append()) EVERSHARD_TRY(get(*from.mutable_append(), to.append.emplace()));
  to.position = GlobalPosition(from.position());
  to.first_position = GlobalPosition(from.first_position());
  to.last_position = GlobalPosition(from.last_position());
  if (from.has_refusal()) EVERSHARD_TRY(get(*from.mutable_refusal(), to.refusal.emplace()));
  to.duplicate = from.duplicate();
  return {};
}

}  // namespace evershard::messages
