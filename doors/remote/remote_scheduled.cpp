#include "evershard/doors/remote/remote_scheduled.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "evershard/api/messages/scheduled_messages.hpp"
#include "evershard/doors/remote/at_least.hpp"
#include "evershard/doors/remote/sendable.hpp"

namespace evershard::remote {
namespace {

using std::chrono::milliseconds;

Result<ScheduledAppend> scheduled_of(Connection& connection, pb::ScheduledAppend& response) {
  ScheduledAppend scheduled;
  EVERSHARD_TRY(messages::get(response, scheduled));
  connection.see(std::max(scheduled.position, scheduled.last_position));
  return scheduled;
}

}  // namespace

Result<ScheduledAppend> RemoteScheduled::schedule(ScheduleOrder order) {
  if (order.append.malformed) return refuse(*order.append.malformed);
  if (order.due.has_value() == order.after.has_value())
    return refuse(ErrorCode::invalid_argument, "either a time that it is due, or how long until then");
  if (order.id.empty()) order.id = EventId::random().text();  // so that the order can be repeated
  pb::ScheduleRequest request;
  messages::put(order, request);
  EVERSHARD_TRY(sendable(request));
  pb::ScheduledAppend response;
  EVERSHARD_TRY(connection_->ask([&](Door& door, grpc::ClientContext& context,
                                     milliseconds) { return door.scheduled->Schedule(&context, request, &response); },
                                 Connection::Again::named));
  return scheduled_of(*connection_, response);
}

Result<ScheduledAppend> RemoteScheduled::cancel(const std::string& id) {
  pb::CancelScheduledRequest request;
  request.set_id(id);
  EVERSHARD_TRY(sendable(request));
  pb::ScheduledAppend response;
  EVERSHARD_TRY(connection_->ask([&](Door& door, grpc::ClientContext& context,
                                     milliseconds) { return door.scheduled->Cancel(&context, request, &response); },
                                 Connection::Again::named));
  return scheduled_of(*connection_, response);
}

Result<ScheduledAppend> RemoteScheduled::get(const std::string& id) {
  pb::GetScheduledRequest request;
  request.set_id(id);
  EVERSHARD_TRY(sendable(request));
  pb::ScheduledAppend response;
  EVERSHARD_TRY(connection_->ask(
      connection_->options().timeout,
      [&](Door& door, grpc::ClientContext& context, milliseconds left) {
        put_at_least(*connection_, {}, left, request);
        return door.scheduled->Get(&context, request, &response);
      },
      Connection::Again::not_served, Connection::answer_grace));
  return scheduled_of(*connection_, response);
}

Result<ScheduledPage> RemoteScheduled::list(ScheduledListing listing) {
  if (listing.limit == 0 || listing.limit > std::numeric_limits<std::uint32_t>::max())
    return refuse(ErrorCode::invalid_argument, "limit is " + std::to_string(listing.limit) + ": from 1 to 1000");
  pb::ListScheduledRequest request;
  request.set_all(listing.all);
  request.set_after(listing.after);
  request.set_limit(static_cast<std::uint32_t>(listing.limit));
  EVERSHARD_TRY(sendable(request));
  pb::ListScheduledResponse response;
  EVERSHARD_TRY(connection_->ask(
      std::max(connection_->options().timeout, listing.at_least ? listing.timeout : milliseconds(0)),
      [&](Door& door, grpc::ClientContext& context, milliseconds left) {
        put_at_least(*connection_, listing.at_least, left, request);
        return door.scheduled->List(&context, request, &response);
      },
      Connection::Again::not_served, Connection::answer_grace));
  ScheduledPage page;
  for (auto& message : *response.mutable_scheduled())
    EVERSHARD_TRY(messages::get(message, page.scheduled.emplace_back()));
  if (!response.next().empty()) page.next = response.next();
  return page;
}

}  // namespace evershard::remote
