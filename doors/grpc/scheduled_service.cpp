#include "evershard/doors/grpc/scheduled_service.hpp"

#include "evershard/api/messages/scheduled_messages.hpp"

namespace evershard::door {
namespace {

Result<void> given(const Result<ScheduledAppend>& scheduled, pb::ScheduledAppend& response) {
  if (!scheduled) return refuse(scheduled.error());
  messages::put(*scheduled, response);
  return {};
}

}  // namespace

Result<ScheduledAppends*> ScheduledService::scheduled() const {
  if (calls_.served.scheduled == nullptr)
    return refuse(ErrorCode::unavailable, "this server offers no scheduled appends");
  return calls_.served.scheduled;
}

ScheduledService::ScheduledService(Calls& calls) : ServiceOf(calls) {
  answers<pb::ScheduleRequest, pb::ScheduledAppend>(
      {"Schedule", "ScheduleAppend"}, Scope::append,
      [this](pb::ScheduleRequest& request, pb::ScheduledAppend& response) -> Result<void> {
        const auto offered = scheduled();
        if (!offered) return refuse(offered.error());
        ScheduleOrder order;
        EVERSHARD_TRY(messages::get(request, order));
        return given((*offered)->schedule(std::move(order)), response);
      });
  answers<pb::CancelScheduledRequest, pb::ScheduledAppend>(
      {"Cancel", "CancelScheduled"}, Scope::append,
      [this](pb::CancelScheduledRequest& request, pb::ScheduledAppend& response) -> Result<void> {
        const auto offered = scheduled();
        if (!offered) return refuse(offered.error());
        return given((*offered)->cancel(request.id()), response);
      });
  answers<pb::GetScheduledRequest, pb::ScheduledAppend>(
      {"Get", "GetScheduled"}, Scope::read,
      [this](pb::GetScheduledRequest& request, pb::ScheduledAppend& response) -> Result<void> {
        const auto offered = scheduled();
        if (!offered) return refuse(offered.error());
        return given((*offered)->get(request.id()), response);
      });
  answers<pb::ListScheduledRequest, pb::ListScheduledResponse>(
      {"List", "ListScheduled"}, Scope::read,
      [this](pb::ListScheduledRequest& request, pb::ListScheduledResponse& response) -> Result<void> {
        const auto offered = scheduled();
        if (!offered) return refuse(offered.error());
        ScheduledListing listing{.all = request.all(), .after = request.after()};
        if (request.limit() != 0) listing.limit = request.limit();
        const auto page = (*offered)->list(std::move(listing));
        if (!page) return refuse(page.error());
        for (const auto& scheduled : page->scheduled) messages::put(scheduled, *response.add_scheduled());
        response.set_next(page->next.value_or(""));
        return {};
      });
}

}  // namespace evershard::door
