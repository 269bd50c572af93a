#include "evershard/services/processes/store_processes.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "evershard/actors/timers/timer_firing.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/processes.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/timers.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t listed_most = 1'000;
constexpr int cancel_tries = 16;  ///< while the aggregate goes on

/// Whoever runs a process says so more often: ProcessHost.
constexpr std::chrono::microseconds process_silent_most = std::chrono::seconds(30);

Refused no_process(const std::string& name) {
  return refuse(ErrorCode::not_found, "no process " + in_quotes(name) + " ever ran here");
}

Result<void> check_limit(std::size_t limit) {
  if (limit != 0 && limit <= listed_most) return {};
  return refuse(ErrorCode::invalid_argument,
                "limit is " + std::to_string(limit) + ": from 1 to " + std::to_string(listed_most));
}

/// Those that fail or are stopped. One that does so on its first event has no stream yet.
std::set<std::string> held_up_of(const ProcessCheckpoint& state) {
  std::set<std::string> instances(state.stopped_instances.begin(), state.stopped_instances.end());
  for (const auto& failing : state.failures)
    if (!failing.instance.empty()) instances.insert(failing.instance);
  return instances;
}

Refused not_of_process(const ProcessPlace& place, const std::string& name) {
  return refuse(ErrorCode::not_found, "process " + in_quotes(name) + " has no " + in_quotes(place.text()));
}

}  // namespace

Result<std::vector<ProcessInfo>> StoreProcesses::processes() {
  std::vector<ProcessInfo> all;
  for (std::optional<AggregateId> after;;) {
    const auto logs = events_.aggregates(std::string(process_log_type), after, listed_most);
    if (!logs) return refuse(logs.error());
    for (const auto& log : *logs) {
      auto info = process(log.aggregate.value);
      if (!info) return refuse(std::move(info).error());
      all.push_back(*std::move(info));
    }
    if (logs->size() < listed_most) return all;
    after = logs->back().aggregate;
  }
}

Result<ProcessInfo> StoreProcesses::process(const std::string& name) {
  const auto log = process_log(name);
  if (!AggregateId::check(log)) return no_process(name);
  ProcessInfo info;
  info.name = name;
  auto taken = events_.read(log, {.direction = Direction::backwards});
  bool ever = false;
  for (const auto& event : taken) {
    ever = true;
    if (event.type != process_taken_type) continue;
    info.taken_at = event.occurred_at;
    break;
  }
  if (taken.error() && taken.error()->code != ErrorCode::not_found) return refuse(*taken.error());
  if (!ever) return no_process(name);
  const auto head = events_.head();
  if (!head) return refuse(head.error());
  info.head = *head;
  const auto said = events_.snapshot(log);
  if (!said) return refuse(said.error());
  if (*said) {
    auto state = decode_process_checkpoint((*said)->payload);
    if (!state) return refuse(std::move(state).error());
    info.state = *std::move(state);
    info.said_at = (*said)->taken_at;
    if (info.state.position > info.head)
      info.state.trouble = "its place, position " + std::to_string(info.state.position.value) +
                           ", lies beyond the head of the store, " + std::to_string(info.head.value) +
                           ": the store was restored; whoever runs it next goes on behind what the store has of it";
  }
  // What an earlier one said at its end is over when another one takes it over.
  const auto heard = std::max(info.taken_at, info.said_at.value_or(Timestamp{}));
  const bool ended = info.state.ended && info.said_at >= info.taken_at;
  info.running = !ended && Timestamp::now().micros - heard.micros < process_silent_most.count();
  return info;
}

Result<std::vector<ProcessInstance>> StoreProcesses::instances(const std::string& name, const std::string& after,
                                                               std::size_t limit) {
  EVERSHARD_TRY(check_limit(limit));
  const auto info = process(name);
  if (!info) return refuse(info.error());
  std::optional<AggregateId> behind;
  if (!after.empty()) {
    behind = AggregateId{name, after};
    EVERSHARD_TRY(AggregateId::check(*behind));
  }
  const auto rows = events_.aggregates(name, behind, limit);
  if (!rows) return refuse(rows.error());
  std::map<std::string, ProcessInstance> found;
  for (const auto& row : *rows)
    found.emplace(row.aggregate.value, ProcessInstance{row.aggregate.value, row.version, row.last_position});
  // Behind a full page others follow: those that have no stream may be among these.
  for (const auto& held_up : held_up_of(info->state))
    if (held_up > after && (rows->size() < limit || held_up < rows->back().aggregate.value))
      found.try_emplace(held_up, ProcessInstance{held_up});
  std::vector<ProcessInstance> all;
  for (const auto& one : found) {
    if (all.size() == limit) break;
    auto& instance = all.emplace_back(one.second);
    instance.stopped = info->state.stopped || info->state.stopped_instances.contains(instance.instance);
    std::ranges::copy_if(info->state.failures, std::back_inserter(instance.failures),
                         [&](const ProcessFailing& failing) { return failing.instance == instance.instance; });
  }
  return all;
}

Result<std::vector<ParkedEffect>> StoreProcesses::parked_effects(const std::string& name) {
  const auto info = process(name);
  if (!info) return refuse(info.error());
  std::map<ProcessPlace, ParkedEffect> parked;
  auto reactions = events_.read(Query{}.types({std::string(process_reacted_type)}).tags({process_tag(name)}));
  for (const auto& event : reactions) {
    if (event.state != EventState::live || !event.aggregate || event.aggregate->type != name) continue;
    const auto reacted = decode_process_reacted(event.payload);
    if (!reacted) continue;  // its instance says so
    const ProcessPlace place{ProcessPlace::What::effect, reacted->position, reacted->number};
    if (reacted->cause == ProcessReacted::Cause::performed) parked.erase(place);
    if (reacted->cause == ProcessReacted::Cause::not_performed)
      parked[place] = {event.aggregate->value, place, reacted->type, reacted->reason, event.occurred_at};
  }
  if (reactions.error()) return refuse(*reactions.error());
  std::vector<ParkedEffect> all;
  for (auto& [place, effect] : parked) {
    effect.replaying =
        std::ranges::find(info->state.replays, place, &ProcessReplay::effect) != info->state.replays.end();
    all.push_back(std::move(effect));
  }
  return all;
}

Result<void> StoreProcesses::check(const ProcessInfo& info, const ProcessControl& control) {
  const auto& name = info.name;
  using Action = ProcessControl::Action;
  const bool has_place = control.action == Action::skip || control.action == Action::replay;
  if (!has_place) {
    if (control.instance.empty()) return {};
    const AggregateId instance{name, control.instance};
    EVERSHARD_TRY(AggregateId::check(instance));
    if (held_up_of(info.state).contains(control.instance)) return {};
    const auto there = events_.aggregate(instance);
    if (!there && there.error().code == ErrorCode::not_found)
      return refuse(ErrorCode::not_found,
                    "process " + in_quotes(name) + " has no instance " + in_quotes(control.instance));
    return there ? Result<void>() : Result<void>(refuse(there.error()));
  }
  const auto& place = control.place;
  const auto event = events_.event_at(place.position);
  if (!event && event.error().code == ErrorCode::not_found) return not_of_process(place, name);
  if (!event) return refuse(event.error());
  if (place.what == ProcessPlace::What::event) {
    if (control.action == Action::replay)
      return refuse(ErrorCode::invalid_argument, in_quotes(place.text()) + " is no effect: only these are replayed");
    return is_reserved(event->type) ? Result<void>(not_of_process(place, name)) : Result<void>();
  }
  if (event->type != process_reacted_type || !event->aggregate || event->aggregate->type != name)
    return not_of_process(place, name);
  if (control.action == Action::replay) {
    if (place.what != ProcessPlace::What::effect)
      return refuse(ErrorCode::invalid_argument, in_quotes(place.text()) + " is no effect: only these are replayed");
    const auto parked = parked_effects(name);
    if (!parked) return refuse(parked.error());
    if (std::ranges::find(*parked, place, &ParkedEffect::place) == parked->end())
      return refuse(ErrorCode::not_found, in_quotes(place.text()) + " of process " + in_quotes(name) +
                                              " was not given up, or has been performed since");
    return {};
  }
  const auto reacted = decode_process_reacted(event->payload);
  if (!reacted) return {};  // that is what is skipped
  const auto count = place.what == ProcessPlace::What::effect ? reacted->effects.size() : reacted->commands.size();
  return place.number < count ? Result<void>() : Result<void>(not_of_process(place, name));
}

Result<GlobalPosition> StoreProcesses::control(const std::string& name, const ProcessControl& control) {
  const auto info = process(name);
  if (!info) return refuse(info.error());
  EVERSHARD_TRY(check(*info, control));
  const auto appended = events_.append(Append{}.event(controlling(name, control)));
  if (!appended) return refuse(appended.error());
  return appended->last_position;
}

Result<TimerPage> StoreProcesses::timers(const TimerListing& listing) {
  EVERSHARD_TRY(check_limit(listing.limit));
  std::optional<actors::DueOrder> after;
  if (!listing.after.empty()) {
    const auto order = actors::DueOrder::parse(listing.after);
    if (!order) return refuse(order.error());
    after = *order;
  }
  auto query = actors::TimerFiring::query();
  if (listing.aggregate) {
    EVERSHARD_TRY(AggregateId::check(*listing.aggregate));
    query = Query::of({{{std::string(timers_changed_type)}, {}, {*listing.aggregate}}});
  }
  actors::TimerFiring firing;
  auto events = events_.read(query);
  for (const auto& event : events) {
    if (listing.type && event.aggregate && event.aggregate->type != *listing.type) continue;
    if (listing.aggregate && event.aggregate != listing.aggregate) continue;
    static_cast<void>(firing.event(event));  // who fires them says so
  }
  if (events.error()) return refuse(*events.error());
  TimerPage page;
  page.pending = firing.figures().pending;
  const auto due = firing.queue().waiting().list(after, listing.limit);
  for (const auto& timer : due) {
    const auto set = events_.event_at(timer.set_at);
    if (!set && set.error().code == ErrorCode::not_found) continue;
    if (!set) return refuse(set.error());
    const auto changed = decode_timers_changed(set->payload);
    if (!changed || !set->aggregate) continue;  // who fires timers says that it cannot be read
    for (const auto& of : changed->set)
      if (timer_key(*set->aggregate, of.name) == timer.key)
        page.timers.push_back({*set->aggregate, of, timer.due, timer.set_at});
  }
  if (due.size() == listing.limit)
    page.next = actors::DueOrder{due.back().due, due.back().set_at, due.back().key}.text();
  return page;
}

Result<void> StoreProcesses::cancel_timer(const AggregateId& aggregate, const std::string& name) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  const auto none = [&] {
    return refuse(ErrorCode::not_found, in_quotes(aggregate.text()) + " has no timer " + in_quotes(name));
  };
  for (int n = 0; n != cancel_tries; ++n) {
    const auto info = events_.aggregate(aggregate);
    if (!info && info.error().code == ErrorCode::not_found) return none();
    if (!info) return refuse(info.error());
    bool set = false;
    std::string subject;
    auto events = events_.read(Query::of({{{std::string(timers_changed_type)}, {}, {aggregate}}}),
                               {.up_to = info->last_position});
    for (const auto& event : events) {
      if (event.aggregate != aggregate || event.state != EventState::live) continue;
      const auto changed = decode_timers_changed(event.payload);
      if (!changed) return refuse(changed.error());
      if (std::ranges::find(changed->cancelled, name) != changed->cancelled.end() || changed->fired == name)
        set = false;
      if (std::ranges::find(changed->set, name, &TimerSet::name) == changed->set.end()) continue;
      set = true;
      subject = event.subject;
    }
    if (events.error()) return refuse(*events.error());
    if (!set) return none();
    Event event;
    event.aggregate = aggregate;
    event.type = timers_changed_type;
    event.tags = {timer_tag(timer_key(aggregate, name))};
    event.payload = encode(TimersChanged{.cancelled = {name}});
    event.format = PayloadFormat::protobuf;
    event.subject = subject;
    const auto appended =
        events_.append(Append{}.event(std::move(event)).expect(aggregate, ExpectedVersion::exactly(info->version)));
    if (appended) return {};
    if (appended.error().code != ErrorCode::version_conflict) return refuse(appended.error());
  }
  return refuse(ErrorCode::overloaded, in_quotes(aggregate.text()) + " changes all the time");
}

}  // namespace evershard::cluster
