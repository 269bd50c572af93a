#include "evershard/api/calls/scheduled_calls.hpp"

#include <algorithm>
#include <limits>

#include "evershard/api/messages/scheduled_messages.hpp"

namespace evershard::calls {
namespace {

using messages::put;

Result<void> told_scheduled(const Result<ScheduledAppend>& found, pb::ScheduledAppend& out) {
  return told(found, [&](const ScheduledAppend& scheduled) { put(scheduled, out); });
}

const Row<ScheduledAppends, pb::ScheduleRequest, pb::ScheduledAppend> schedule_call(
    {"/evershard.v1.ScheduledAppends/Schedule", "ScheduleAppend"}, Scope::append, Again::named, {},
    [](ScheduledAppends& scheduled, auto& in, auto& out) -> Result<void> {
      ScheduleOrder order;
      EVERSHARD_TRY(messages::get(in, order));
      return told_scheduled(scheduled.schedule(std::move(order)), out);
    });
const Row<ScheduledAppends, pb::CancelScheduledRequest, pb::ScheduledAppend> cancel_scheduled_call(
    {"/evershard.v1.ScheduledAppends/Cancel", "CancelScheduled"}, Scope::append, Again::named, {},
    [](ScheduledAppends& scheduled, auto& in, auto& out) { return told_scheduled(scheduled.cancel(in.id()), out); });
const Row<ScheduledAppends, pb::GetScheduledRequest, pb::ScheduledAppend> get_scheduled_call(
    {"/evershard.v1.ScheduledAppends/Get", "GetScheduled"}, Scope::read, Again::read, {},
    [](ScheduledAppends& scheduled, auto& in, auto& out) { return told_scheduled(scheduled.get(in.id()), out); });
const Row<ScheduledAppends, pb::ListScheduledRequest, pb::ListScheduledResponse> list_scheduled_call(
    {"/evershard.v1.ScheduledAppends/List", "ListScheduled"}, Scope::read, Again::read, {},
    [](ScheduledAppends& scheduled, auto& in, auto& out) {
      ScheduledListing listing{.all = in.all(), .after = in.after()};
      if (in.limit() != 0) listing.limit = in.limit();
      return told(scheduled.list(std::move(listing)), [&](const ScheduledPage& page) {
        for (const auto& one : page.scheduled) put(one, *out.add_scheduled());
        out.set_next(page.next.value_or(""));
      });
    });

template <class Request>
Result<ScheduledAppend> asked_for_scheduled(Asker& asker,
                                            const Row<ScheduledAppends, Request, pb::ScheduledAppend>& row,
                                            Request& request) {
  pb::ScheduledAppend response;
  EVERSHARD_TRY(asker.ask(row, request, response));
  ScheduledAppend scheduled;
  EVERSHARD_TRY(messages::get(response, scheduled));
  asker.see(std::max(scheduled.position, scheduled.last_position));
  return scheduled;
}

}  // namespace

const Calls<ScheduledAppends>& scheduled_calls() {
  static const Calls<ScheduledAppends> all{&schedule_call, &cancel_scheduled_call, &get_scheduled_call,
                                           &list_scheduled_call};
  return all;
}

Result<ScheduledAppend> AskedScheduled::schedule(ScheduleOrder order) {
  if (order.append.malformed) return refuse(*order.append.malformed);
  if (order.due.has_value() == order.after.has_value())
    return refuse(ErrorCode::invalid_argument, "either a time that it is due, or how long until then");
  if (order.id.empty()) order.id = EventId::random().text();  // so that the order can be repeated
  pb::ScheduleRequest request;
  put(order, request);
  return asked_for_scheduled(*asker_, schedule_call, request);
}

Result<ScheduledAppend> AskedScheduled::cancel(const std::string& id) {
  pb::CancelScheduledRequest request;
  request.set_id(id);
  return asked_for_scheduled(*asker_, cancel_scheduled_call, request);
}

Result<ScheduledAppend> AskedScheduled::get(const std::string& id) {
  pb::GetScheduledRequest request;
  request.set_id(id);
  return asked_for_scheduled(*asker_, get_scheduled_call, request);
}

Result<ScheduledPage> AskedScheduled::list(ScheduledListing listing) {
  if (listing.limit == 0 || listing.limit > std::numeric_limits<std::uint32_t>::max())
    return refuse(ErrorCode::invalid_argument, "limit is " + std::to_string(listing.limit) + ": from 1 to 1000");
  pb::ListScheduledRequest request;
  request.set_all(listing.all);
  request.set_after(listing.after);
  request.set_limit(static_cast<std::uint32_t>(listing.limit));
  pb::ListScheduledResponse response;
  WaitsFor awaited{.at_least = listing.at_least, .shared = true};
  if (listing.at_least) awaited.timeout = listing.timeout;
  EVERSHARD_TRY(asker_->ask(list_scheduled_call, request, response, awaited));
  ScheduledPage page;
  for (auto& message : *response.mutable_scheduled())
    EVERSHARD_TRY(messages::get(message, page.scheduled.emplace_back()));
  if (!response.next().empty()) page.next = response.next();
  return page;
}

}  // namespace evershard::calls
