#include "evershard/protocol/timers.hpp"

#include <xxhash.h>

#include <algorithm>
#include <set>
#include <utility>

#include "evershard/protocol/calendar.hpp"
#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/name.hpp"
#include "evershard/v1/timers.pb.h"

namespace evershard {
namespace {

namespace pb = v1;

constexpr std::string_view tag_begins = "$timer:";

void put(const TimerSet& from, pb::TimerSet& to) {
  to.set_name(from.name);
  if (from.at)
    to.set_at_us(from.at->micros);
  else
    to.set_after_us(from.after.count());
  to.set_command(from.command);
  to.set_payload(from.payload);
  to.set_every_us(from.every.count());
  if (!from.calendar) return;
  to.mutable_calendar()->set_times(from.calendar->times);
  to.mutable_calendar()->set_zone(from.calendar->zone);
}

TimerSet timer_of(const pb::TimerSet& from) {
  TimerSet timer;
  timer.name = from.name();
  if (from.due_case() == pb::TimerSet::kAtUs)
    timer.at = Timestamp{from.at_us()};
  else
    timer.after = std::chrono::microseconds(from.after_us());
  timer.command = from.command();
  timer.payload = from.payload();
  timer.every = std::chrono::microseconds(from.every_us());
  if (from.has_calendar()) timer.calendar = TimerCalendar{from.calendar().times(), from.calendar().zone()};
  return timer;
}

Result<void> check_timer(const TimerSet& timer) {
  const auto refused = [&](const std::string& why) {
    return refuse(ErrorCode::invalid_argument, "timer " + in_quotes(timer.name) + " " + why);
  };
  constexpr std::chrono::microseconds least{1'000};
  constexpr std::chrono::microseconds most = std::chrono::hours(24 * 365 * 1'000);
  if (timer.command.empty()) return refused("has no command");
  if (timer.at && (timer.at->micros < 0 || *timer.at > Timestamp::last()))
    return refused("is due at " + timer.at->text() + ": from 1970 to 9999");
  if (!timer.at && (timer.after < std::chrono::microseconds(0) || timer.after > most))
    return refused("is due after " + std::to_string(timer.after.count()) + " us: from 0 to a thousand years");
  if (timer.every.count() != 0 && (timer.every < least || timer.every > most))
    return refused("repeats every " + std::to_string(timer.every.count()) + " us: from 1 ms to a thousand years");
  if (!timer.calendar) return {};
  if (timer.every.count() != 0 || timer.after.count() != 0) return refused("has both a calendar and a time to wait");
  const auto calendar = Calendar::parse(timer.calendar->times, timer.calendar->zone);
  if (!calendar) return refuse(calendar.error().code, "timer " + in_quotes(timer.name) + ": " + calendar.error().what);
  return {};
}

Result<Timestamp> next_of(const TimerCalendar& times, Timestamp after) {
  const auto calendar = Calendar::parse(times.times, times.zone);
  if (!calendar) return refuse(calendar.error());
  return calendar->next(after).value_or(Timestamp::last());
}

}  // namespace

TimerKey timer_key(const AggregateId& aggregate, std::string_view name) {
  std::string text = aggregate.text();
  text.push_back('\0');
  text.append(name);
  const auto hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}

Tag timer_tag(const TimerKey& key) {
  std::string bytes;
  for (const auto half : {key.high, key.low})
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(half >> shift));
  return std::string(tag_begins) + hex(bytes);
}

Timestamp due_of(const TimerSet& timer, Timestamp set) {
  if (timer.at) return *timer.at;
  if (timer.calendar) return next_of(*timer.calendar, set).value_or(set);
  const auto room = Timestamp::last().micros - set.micros;
  return {set.micros + std::min(timer.after.count(), room)};
}

Result<Timestamp> next_due(const TimerSet& timer, Timestamp due, Timestamp now) {
  if (timer.calendar) return next_of(*timer.calendar, std::max(due, now));
  const auto every = timer.every.count();
  const auto missed = now.micros <= due.micros ? 0 : (now.micros - due.micros) / every;
  return Timestamp{due.micros + (missed + 1) * every};
}

std::vector<std::string> TimersChanged::names() const {
  std::set<std::string> names(cancelled.begin(), cancelled.end());
  for (const auto& timer : set) names.insert(timer.name);
  if (!fired.empty()) names.insert(fired);
  return {names.begin(), names.end()};
}

Result<void> check(const TimersChanged& changed) {
  std::set<std::string_view> seen;
  const auto once = [&](const std::string& name) -> Result<void> {
    EVERSHARD_TRY(check_name("timer", name, timer_name_bytes_max));
    if (!seen.insert(name).second)
      return refuse(ErrorCode::invalid_argument,
                    "timer " + in_quotes(name) + " is set or cancelled twice by one command");
    return {};
  };
  for (const auto& timer : changed.set) {
    EVERSHARD_TRY(once(timer.name));
    EVERSHARD_TRY(check_timer(timer));
  }
  for (const auto& name : changed.cancelled) EVERSHARD_TRY(once(name));
  if (const auto names = changed.names().size(); names > timers_changed_max)
    return refuse(ErrorCode::too_large, std::to_string(names) +
                                            " timers are set or cancelled by one command, at most " +
                                            std::to_string(timers_changed_max) + " are allowed");
  return {};
}

std::string encode(const TimersChanged& changed) {
  pb::TimersChanged message;
  for (const auto& timer : changed.set) put(timer, *message.add_set());
  for (const auto& name : changed.cancelled) message.add_cancelled(name);
  message.set_fired(changed.fired);
  return message.SerializeAsString();
}

Result<TimersChanged> decode_timers_changed(std::string_view bytes) {
  pb::TimersChanged message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return refuse(ErrorCode::corruption, "an event of type " + in_quotes(timers_changed_type) + " cannot be read");
  TimersChanged changed;
  for (const auto& timer : message.set()) changed.set.push_back(timer_of(timer));
  changed.cancelled.assign(message.cancelled().begin(), message.cancelled().end());
  changed.fired = message.fired();
  return changed;
}

std::string encode(const FireTimer& fire) {
  pb::FireTimer message;
  put(fire.timer, *message.mutable_timer());
  message.set_set_at(fire.set_at.value);
  message.set_tag(fire.tag);
  if (fire.next) message.set_next_us(fire.next->micros);
  message.set_subject(fire.subject);
  return message.SerializeAsString();
}

Result<FireTimer> decode_fire_timer(std::string_view bytes) {
  pb::FireTimer message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || message.timer().name().empty() ||
      message.tag().empty())
    return refuse(ErrorCode::corruption, "a timer's command cannot be read");
  FireTimer fire{timer_of(message.timer()), GlobalPosition{message.set_at()}, message.tag()};
  if (message.next_us() != 0) fire.next = Timestamp{message.next_us()};
  fire.subject = message.subject();
  return fire;
}

}  // namespace evershard
