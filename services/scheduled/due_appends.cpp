#include "evershard/services/scheduled/due_appends.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/scheduled.hpp"

namespace evershard::cluster {
namespace {

using actors::DueTimer;

/// The due time of a schedule whose append was erased: no process has the append any more, and the first that can
/// settles it.
constexpr Timestamp at_once{0};
constexpr std::uint32_t made_by = 0x5c4ed01e;  ///< frozen: the number by which ids of requests follow from schedules'

TimerKey key_of_schedule(const AggregateId& schedule) { return timer_key(schedule, ""); }

/// Whether another try may end otherwise, while the append and what it stands on are the same.
bool is_final(ErrorCode code) {
  switch (code) {
    case ErrorCode::version_conflict:
    case ErrorCode::condition_failed:
    case ErrorCode::duplicate_event:
    case ErrorCode::not_found:
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_query:
    case ErrorCode::too_large:
      return true;
    default:
      return false;
  }
}

/// Of an append that says what came of a schedule: its last event does.
const AggregateId& schedule_of_settling(const Append& append) { return *append.events.back().aggregate; }

bool is_settling_alone(const Append& append) { return append.events.size() == 1; }

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> scheduled_figures(const DueAppendsFigures& figures) {
  return {{"scheduled.pending", figures.pending},   {"scheduled.overdue", figures.overdue},
          {"scheduled.appended", figures.appended}, {"scheduled.refused", figures.refused},
          {"scheduled.failed", figures.failed},     {"scheduled.damaged", figures.damaged},
          {"scheduled.late_us", figures.late_us}};
}

Query DueAppends::query() {
  return Query{}.types({std::string(append_scheduled_type), std::string(schedule_settled_type)});
}

Result<void> DueAppends::event(const RecordedEvent& event) {
  if (event.state == EventState::removed || !event.aggregate) return {};
  const auto key = key_of_schedule(*event.aggregate);
  if (event.type == schedule_settled_type) {
    queue_.drop(key, event.position);
    return {};
  }
  if (event.state == EventState::erased) {
    queue_.set({key, event.position, event.shard, at_once});
    return {};
  }
  const auto scheduled = decode_scheduled(event.payload);
  if (!scheduled) return refuse(scheduled.error());
  queue_.set({key, event.position, event.shard, scheduled->due});
  return {};
}

std::optional<Append> DueAppends::fire(const DueTimer& timer, const Result<RecordedEvent>& set, Timestamp now) {
  if (!set && set.error().code != ErrorCode::not_found) {
    failed(timer, now);
    return std::nullopt;
  }
  if (!set || set->state == EventState::removed || !set->aggregate) {
    queue_.over(timer);
    return std::nullopt;
  }
  if (set->state == EventState::erased) {
    const Error erased(ErrorCode::not_found, "its content was erased before it was due");
    return settled(*set->aggregate, set->seq_nr, &erased);
  }
  auto scheduled = decode_scheduled(set->payload);
  if (!scheduled) {  // counted, and tried again
    failed(timer, now);
    return std::nullopt;
  }
  // The clock was set back since it was taken, or since it was to be tried again.
  if (scheduled->due > now) {
    queue_.postpone(timer, scheduled->due);
    return std::nullopt;
  }
  auto append = std::move(scheduled->append);
  Event event;
  event.aggregate = *set->aggregate;
  event.type = schedule_settled_type;
  event.payload = encode(ScheduleSettled{ScheduledState::appended});
  event.format = PayloadFormat::protobuf;
  append.request(EventId::derived(set->id, made_by));  // so that a later try recognises one whose outcome is not known
  append.event(std::move(event)).expect(*set->aggregate, ExpectedVersion::exactly(set->seq_nr));
  return append;
}

Append DueAppends::settled(const AggregateId& schedule, SeqNr version, const Error* refusal) {
  ScheduleSettled settled{refusal != nullptr ? ScheduledState::refused : ScheduledState::cancelled};
  if (refusal != nullptr) settled.refusal = *refusal;
  Event event;
  event.aggregate = schedule;
  event.type = schedule_settled_type;
  event.payload = encode(settled);
  event.format = PayloadFormat::protobuf;
  return Append{}.event(std::move(event)).expect(schedule, ExpectedVersion::exactly(version));
}

std::optional<Append> DueAppends::answered(const DueTimer& timer, const Append& sent, const Result<Appended>& answer,
                                           Timestamp now) {
  if (answer) {
    queue_.sent(timer);
    ++(is_settling_alone(sent) ? figures_.refused : figures_.appended);
    figures_.late_us = static_cast<std::uint64_t>(std::max<std::int64_t>(0, now.micros - timer.due.micros));
    return std::nullopt;
  }
  const auto& error = answer.error();
  // Where its schedule has changed, that event comes, and this is over.
  const auto& schedule = schedule_of_settling(sent);
  const bool overtaken = error.code == ErrorCode::version_conflict && error.details && error.details->aggregate &&
                         *error.details->aggregate == schedule;
  if (!overtaken && is_final(error.code) && !is_settling_alone(sent)) {
    const auto& expected = std::ranges::find(sent.expectations, schedule, &Expectation::aggregate)->version;
    return settled(schedule, expected.number(), &error);
  }
  if (!overtaken) ++figures_.failed;
  queue_.try_again(timer, now);
  return std::nullopt;
}

void DueAppends::failed(const DueTimer& timer, Timestamp now) {
  ++figures_.failed;
  queue_.try_again(timer, now);
}

DueAppendsFigures DueAppends::figures() const {
  auto figures = figures_;
  figures.pending = queue_.size();
  figures.overdue = queue_.failing();
  return figures;
}

}  // namespace evershard::cluster
