#include "evershard/doors/grpc/process_service.hpp"

#include "evershard/api/messages/messages.hpp"
#include "evershard/api/messages/process_messages.hpp"

namespace evershard::door {
namespace {

constexpr std::uint32_t process_rows_default = 100;

std::size_t rows_of(std::uint32_t limit) { return limit == 0 ? process_rows_default : limit; }

}  // namespace

Result<Processes*> ProcessService::processes() const {
  if (calls_.served.processes == nullptr) return refuse(ErrorCode::unavailable, "this server shows no processes");
  return calls_.served.processes;
}

ProcessService::ProcessService(Calls& calls) : ServiceOf(calls) {
  answers<pb::ListProcessesRequest, pb::ListProcessesResponse>(
      "ListProcesses", Scope::read,
      [this](pb::ListProcessesRequest&, pb::ListProcessesResponse& response) -> Result<void> {
        const auto offered = processes();
        if (!offered) return refuse(offered.error());
        const auto all = (*offered)->processes();
        if (!all) return refuse(all.error());
        for (const auto& info : *all) messages::put(info, *response.add_processes());
        return {};
      });
  answers<pb::GetProcessRequest, pb::ProcessInfo>(
      "GetProcess", Scope::read, [this](pb::GetProcessRequest& request, pb::ProcessInfo& response) -> Result<void> {
        const auto offered = processes();
        if (!offered) return refuse(offered.error());
        const auto info = (*offered)->process(request.name());
        if (!info) return refuse(info.error());
        messages::put(*info, response);
        return {};
      });
  answers<pb::ListInstancesRequest, pb::ListInstancesResponse>(
      "ListInstances", Scope::read,
      [this](pb::ListInstancesRequest& request, pb::ListInstancesResponse& response) -> Result<void> {
        const auto offered = processes();
        if (!offered) return refuse(offered.error());
        const auto all = (*offered)->instances(request.name(), request.after(), rows_of(request.limit()));
        if (!all) return refuse(all.error());
        for (const auto& instance : *all) messages::put(instance, *response.add_instances());
        return {};
      });
  answers<pb::ListParkedEffectsRequest, pb::ListParkedEffectsResponse>(
      "ListParkedEffects", Scope::read,
      [this](pb::ListParkedEffectsRequest& request, pb::ListParkedEffectsResponse& response) -> Result<void> {
        const auto offered = processes();
        if (!offered) return refuse(offered.error());
        const auto all = (*offered)->parked_effects(request.name());
        if (!all) return refuse(all.error());
        for (const auto& effect : *all) messages::put(effect, *response.add_effects());
        return {};
      });
  answers<pb::ControlProcessRequest, pb::ControlProcessResponse>(
      {"Control", "ControlProcess"}, Scope::admin,
      [this](pb::ControlProcessRequest& request, pb::ControlProcessResponse& response) -> Result<void> {
        const auto offered = processes();
        if (!offered) return refuse(offered.error());
        ProcessControl control;
        EVERSHARD_TRY(messages::get(request.control(), control));
        const auto position = (*offered)->control(request.name(), control);
        if (!position) return refuse(position.error());
        response.set_position(position->value);
        return {};
      });
  answers<pb::ListTimersRequest, pb::ListTimersResponse>(
      "ListTimers", Scope::read,
      [this](pb::ListTimersRequest& request, pb::ListTimersResponse& response) -> Result<void> {
        const auto offered = processes();
        if (!offered) return refuse(offered.error());
        TimerListing listing{.after = request.after(), .limit = rows_of(request.limit())};
        if (request.has_type()) listing.type = request.type();
        if (request.has_aggregate()) listing.aggregate = messages::aggregate_of(request.aggregate());
        const auto page = (*offered)->timers(listing);
        if (!page) return refuse(page.error());
        for (const auto& timer : page->timers) messages::put(timer, *response.add_timers());
        response.set_next(page->next.value_or(""));
        response.set_pending(page->pending);
        return {};
      });
  answers<pb::CancelTimerRequest, pb::CancelTimerResponse>(
      "CancelTimer", Scope::admin, [this](pb::CancelTimerRequest& request, pb::CancelTimerResponse&) -> Result<void> {
        const auto offered = processes();
        if (!offered) return refuse(offered.error());
        return (*offered)->cancel_timer(messages::aggregate_of(request.aggregate()), request.name());
      });
}

}  // namespace evershard::door
