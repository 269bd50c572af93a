#include "evershard/protocol/scheduled.hpp"

#include <utility>

#include "evershard/protocol/copy_names.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/messages.hpp"
#include "evershard/protocol/name.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/validate.hpp"
#include "evershard/v1/scheduled.pb.h"

namespace evershard {
namespace {

namespace pb = v1;

Refused cannot_be_read(std::string_view type) {
  return refuse(ErrorCode::corruption, "an event of type " + in_quotes(std::string(type)) + " cannot be read");
}

}  // namespace

std::string_view name_of(ScheduledState state) {
  switch (state) {
    case ScheduledState::pending:
      return "pending";
    case ScheduledState::appended:
      return "appended";
    case ScheduledState::refused:
      return "refused";
    case ScheduledState::cancelled:
      return "cancelled";
  }
  return "unknown";
}

Result<AggregateId> schedule_of(std::string_view id) {
  EVERSHARD_TRY(check_name("the id of a scheduled append", std::string(id), schedule_id_bytes_max));
  return AggregateId{std::string(schedule_type), std::string(id)};
}

std::string subject_of(const Append& append) {
  for (const auto& event : append.events)
    if (!event.subject.empty()) return event.subject;
  return {};
}

Result<void> check(const ScheduledAt& scheduled, const Limits& limits) {
  const auto& append = scheduled.append;
  if (scheduled.due.micros < 0 || scheduled.due > Timestamp::last())
    return refuse(ErrorCode::invalid_argument,
                  "the append is due at " + scheduled.due.text() + ": it can be due from 1970 to 9999");
  const auto has = [](const char* what) {
    return refuse(ErrorCode::invalid_argument,
                  std::string("a scheduled append has ") + what + ": it can have events, expectations and conditions");
  };
  if (append.request_id) return has("a request id, but it is named by its own id");
  if (!append.snapshots.empty()) return has("snapshots");
  if (append.command) return has("a command's reply");
  if (append.from_export) return has("events of an export");
  if (writes_of_copy(append)) return has("events of a copy");
  EVERSHARD_TRY(check_reserved(append));
  EVERSHARD_TRY(check(append, limits));
  auto with_settlement = append;  // what it is made with
  with_settlement.event(schedule_type.data() + std::string("-") + std::string(schedule_id_bytes_max, 'x'),
                        std::string(schedule_settled_type), std::string(64, 'x'));
  EVERSHARD_TRY(check(with_settlement, limits));
  const auto subject = subject_of(append);
  for (const auto& event : append.events)
    if (!event.subject.empty() && event.subject != subject)
      return refuse(ErrorCode::invalid_argument, "the events of a scheduled append are of subjects " +
                                                     in_quotes(subject) + " and " + in_quotes(event.subject) +
                                                     ": until it is made it is sealed for one");
  if (const auto bytes = encode(scheduled).size(); bytes > limits.payload_bytes_max)
    return refuse(ErrorCode::too_large, "the scheduled append has " + std::to_string(bytes) + " bytes, at most " +
                                            std::to_string(limits.payload_bytes_max) +
                                            " are allowed: until it is made it is the payload of one event");
  return {};
}

std::string encode(const ScheduledAt& scheduled) {
  pb::StoredSchedule message;
  message.set_due_us(scheduled.due.micros);
  messages::put(scheduled.append, *message.mutable_append());
  return message.SerializeAsString();
}

std::string encode(const ScheduleSettled& settled) {
  pb::StoredSettlement message;
  message.set_state(static_cast<pb::ScheduledState>(settled.state));
  if (settled.refusal) messages::put(*settled.refusal, *message.mutable_refusal());
  return message.SerializeAsString();
}

Result<ScheduledAt> decode_scheduled(std::string_view bytes) {
  pb::StoredSchedule message;
  ScheduledAt scheduled;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !messages::get(*message.mutable_append(), scheduled.append) || message.due_us() < 0 ||
      message.due_us() > Timestamp::last().micros)
    return cannot_be_read(append_scheduled_type);
  scheduled.due = Timestamp{message.due_us()};
  return scheduled;
}

Result<ScheduleSettled> decode_settled(std::string_view bytes) {
  pb::StoredSettlement message;
  ScheduleSettled settled;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || message.state() < 2 ||
      message.state() > 4)
    return cannot_be_read(schedule_settled_type);
  settled.state = static_cast<ScheduledState>(message.state());
  if (message.has_refusal()) {
    settled.refusal.emplace();
    if (!messages::get(*message.mutable_refusal(), *settled.refusal)) return cannot_be_read(schedule_settled_type);
  }
  return settled;
}

}  // namespace evershard
