#include "evershard/api/calls/processes_calls.hpp"

#include <limits>

#include "evershard/api/messages/messages.hpp"
#include "evershard/api/messages/process_messages.hpp"

namespace evershard::calls {
namespace {

using messages::get, messages::put;

std::size_t process_rows_of(std::uint32_t limit) { return limit == 0 ? 100 : limit; }

const Row<Processes, pb::ListProcessesRequest, pb::ListProcessesResponse> list_processes_call(
    "/evershard.v1.Processes/ListProcesses", Scope::read, Again::read, {}, [](Processes& processes, auto&, auto& out) {
      return told(processes.processes(), [&](const auto& all) {
        for (const auto& info : all) put(info, *out.add_processes());
      });
    });
const Row<Processes, pb::GetProcessRequest, pb::ProcessInfo> get_process_call(
    "/evershard.v1.Processes/GetProcess", Scope::read, Again::read, {}, [](Processes& processes, auto& in, auto& out) {
      return told(processes.process(in.name()), [&](const ProcessInfo& info) { put(info, out); });
    });
const Row<Processes, pb::ListInstancesRequest, pb::ListInstancesResponse> list_instances_call(
    "/evershard.v1.Processes/ListInstances", Scope::read, Again::read, {},
    [](Processes& processes, auto& in, auto& out) {
      return told(processes.instances(in.name(), in.after(), process_rows_of(in.limit())), [&](const auto& all) {
        for (const auto& instance : all) put(instance, *out.add_instances());
      });
    });
const Row<Processes, pb::ListParkedEffectsRequest, pb::ListParkedEffectsResponse> list_parked_effects_call(
    "/evershard.v1.Processes/ListParkedEffects", Scope::read, Again::read, {},
    [](Processes& processes, auto& in, auto& out) {
      return told(processes.parked_effects(in.name()), [&](const auto& all) {
        for (const auto& effect : all) put(effect, *out.add_effects());
      });
    });
const Row<Processes, pb::ControlProcessRequest, pb::ControlProcessResponse> control_process_call(
    {"/evershard.v1.Processes/Control", "ControlProcess"}, Scope::admin, Again::not_done, {},
    [](Processes& processes, auto& in, auto& out) -> Result<void> {
      ProcessControl control;
      EVERSHARD_TRY(get(in.control(), control));
      return told(processes.control(in.name(), control),
                  [&](GlobalPosition position) { out.set_position(position.value); });
    });
const Row<Processes, pb::ListTimersRequest, pb::ListTimersResponse> list_timers_call(
    "/evershard.v1.Processes/ListTimers", Scope::read, Again::read, {}, [](Processes& processes, auto& in, auto& out) {
      TimerListing listing{.after = in.after(), .limit = process_rows_of(in.limit())};
      if (in.has_type()) listing.type = in.type();
      if (in.has_aggregate()) listing.aggregate = messages::aggregate_of(in.aggregate());
      return told(processes.timers(listing), [&](const TimerPage& page) {
        for (const auto& timer : page.timers) put(timer, *out.add_timers());
        out.set_next(page.next.value_or(""));
        out.set_pending(page.pending);
      });
    });
const Row<Processes, pb::CancelTimerRequest, pb::CancelTimerResponse> cancel_timer_call(
    "/evershard.v1.Processes/CancelTimer", Scope::admin, Again::not_done, {},
    [](Processes& processes, auto& in, auto&) {
      return processes.cancel_timer(messages::aggregate_of(in.aggregate()), in.name());
    });

Result<std::uint32_t> limit_on_wire(std::size_t limit) {
  if (limit != 0 && limit <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(limit);
  return refuse(ErrorCode::invalid_argument, "limit is " + std::to_string(limit) + ": from 1 to 1000");
}

template <class Value>
Result<std::vector<Value>> values_of(const auto& messages) {
  std::vector<Value> all;
  for (const auto& message : messages) EVERSHARD_TRY(get(message, all.emplace_back()));
  return all;
}

}  // namespace

const Calls<Processes>& processes_calls() {
  static const Calls<Processes> all{&list_processes_call,      &get_process_call,     &list_instances_call,
                                    &list_parked_effects_call, &control_process_call, &list_timers_call,
                                    &cancel_timer_call};
  return all;
}

Result<std::vector<ProcessInfo>> AskedProcesses::processes() {
  pb::ListProcessesRequest request;
  pb::ListProcessesResponse response;
  EVERSHARD_TRY(asker_->ask(list_processes_call, request, response));
  return values_of<ProcessInfo>(response.processes());
}

Result<ProcessInfo> AskedProcesses::process(const std::string& name) {
  pb::GetProcessRequest request;
  request.set_name(name);
  pb::ProcessInfo response;
  EVERSHARD_TRY(asker_->ask(get_process_call, request, response));
  ProcessInfo info;
  EVERSHARD_TRY(get(response, info));
  return info;
}

Result<std::vector<ProcessInstance>> AskedProcesses::instances(const std::string& name, const std::string& after,
                                                               std::size_t limit) {
  const auto rows = limit_on_wire(limit);
  if (!rows) return refuse(rows.error());
  pb::ListInstancesRequest request;
  request.set_name(name);
  request.set_after(after);
  request.set_limit(*rows);
  pb::ListInstancesResponse response;
  EVERSHARD_TRY(asker_->ask(list_instances_call, request, response));
  return values_of<ProcessInstance>(response.instances());
}

Result<std::vector<ParkedEffect>> AskedProcesses::parked_effects(const std::string& name) {
  pb::ListParkedEffectsRequest request;
  request.set_name(name);
  pb::ListParkedEffectsResponse response;
  EVERSHARD_TRY(asker_->ask(list_parked_effects_call, request, response));
  return values_of<ParkedEffect>(response.effects());
}

Result<GlobalPosition> AskedProcesses::control(const std::string& name, const ProcessControl& control) {
  pb::ControlProcessRequest request;
  request.set_name(name);
  put(control, *request.mutable_control());
  pb::ControlProcessResponse response;
  EVERSHARD_TRY(asker_->ask(control_process_call, request, response));
  asker_->see(GlobalPosition(response.position()));
  return GlobalPosition(response.position());
}

Result<TimerPage> AskedProcesses::timers(const TimerListing& listing) {
  const auto rows = limit_on_wire(listing.limit);
  if (!rows) return refuse(rows.error());
  pb::ListTimersRequest request;
  if (listing.type) request.set_type(*listing.type);
  if (listing.aggregate) {
    EVERSHARD_TRY(AggregateId::check(*listing.aggregate));
    put(*listing.aggregate, *request.mutable_aggregate());
  }
  request.set_after(listing.after);
  request.set_limit(*rows);
  pb::ListTimersResponse response;
  EVERSHARD_TRY(asker_->ask(list_timers_call, request, response));
  auto timers = values_of<PendingTimer>(response.timers());
  if (!timers) return refuse(std::move(timers).error());
  TimerPage page{.timers = *std::move(timers), .pending = response.pending()};
  if (!response.next().empty()) page.next = response.next();
  return page;
}

Result<void> AskedProcesses::cancel_timer(const AggregateId& aggregate, const std::string& name) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::CancelTimerRequest request;
  put(aggregate, *request.mutable_aggregate());
  request.set_name(name);
  pb::CancelTimerResponse response;
  return asker_->ask(cancel_timer_call, request, response);
}

}  // namespace evershard::calls
