#include "evershard/doors/remote/remote_processes.hpp"

#include <limits>
#include <utility>

#include "evershard/api/messages/messages.hpp"
#include "evershard/api/messages/process_messages.hpp"
#include "evershard/doors/remote/at_least.hpp"
#include "evershard/doors/remote/sendable.hpp"

namespace evershard::remote {
namespace {

using std::chrono::milliseconds;

Result<std::uint32_t> wire_limit(std::size_t limit) {
  if (limit != 0 && limit <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(limit);
  return refuse(ErrorCode::invalid_argument, "limit is " + std::to_string(limit) + ": from 1 to 1000");
}

/// What this client wrote is seen.
template <class Request, class Call>
Result<void> look(Connection& connection, Request& request, Call call) {
  EVERSHARD_TRY(sendable(request));
  return connection.ask(
      connection.options().timeout,
      [&](Door& door, grpc::ClientContext& context, milliseconds left) {
        put_at_least(connection, {}, left, request);
        return call(*door.processes, context);
      },
      Connection::Again::not_served, Connection::answer_grace);
}

template <class Message, class Value>
Result<std::vector<Value>> all_of(const google::protobuf::RepeatedPtrField<Message>& messages) {
  std::vector<Value> all;
  for (const auto& message : messages) EVERSHARD_TRY(messages::get(message, all.emplace_back()));
  return all;
}

}  // namespace

Result<std::vector<ProcessInfo>> RemoteProcesses::processes() {
  pb::ListProcessesRequest request;
  pb::ListProcessesResponse response;
  EVERSHARD_TRY(look(*connection_, request, [&](pb::Processes::Stub& stub, grpc::ClientContext& context) {
    return stub.ListProcesses(&context, request, &response);
  }));
  return all_of<pb::ProcessInfo, ProcessInfo>(response.processes());
}

Result<ProcessInfo> RemoteProcesses::process(const std::string& name) {
  pb::GetProcessRequest request;
  request.set_name(name);
  pb::ProcessInfo response;
  EVERSHARD_TRY(look(*connection_, request, [&](pb::Processes::Stub& stub, grpc::ClientContext& context) {
    return stub.GetProcess(&context, request, &response);
  }));
  ProcessInfo info;
  EVERSHARD_TRY(messages::get(response, info));
  return info;
}

Result<std::vector<ProcessInstance>> RemoteProcesses::instances(const std::string& name, const std::string& after,
                                                                std::size_t limit) {
  const auto rows = wire_limit(limit);
  if (!rows) return refuse(rows.error());
  pb::ListInstancesRequest request;
  request.set_name(name);
  request.set_after(after);
  request.set_limit(*rows);
  pb::ListInstancesResponse response;
  EVERSHARD_TRY(look(*connection_, request, [&](pb::Processes::Stub& stub, grpc::ClientContext& context) {
    return stub.ListInstances(&context, request, &response);
  }));
  return all_of<pb::ProcessInstance, ProcessInstance>(response.instances());
}

Result<std::vector<ParkedEffect>> RemoteProcesses::parked_effects(const std::string& name) {
  pb::ListParkedEffectsRequest request;
  request.set_name(name);
  pb::ListParkedEffectsResponse response;
  EVERSHARD_TRY(look(*connection_, request, [&](pb::Processes::Stub& stub, grpc::ClientContext& context) {
    return stub.ListParkedEffects(&context, request, &response);
  }));
  return all_of<pb::ParkedEffect, ParkedEffect>(response.effects());
}

Result<GlobalPosition> RemoteProcesses::control(const std::string& name, const ProcessControl& control) {
  pb::ControlProcessRequest request;
  request.set_name(name);
  messages::put(control, *request.mutable_control());
  EVERSHARD_TRY(sendable(request));
  pb::ControlProcessResponse response;
  EVERSHARD_TRY(connection_->ask([&](Door& door, grpc::ClientContext& context,
                                     milliseconds) { return door.processes->Control(&context, request, &response); },
                                 Connection::Again::not_sent));
  connection_->see(GlobalPosition(response.position()));
  return GlobalPosition(response.position());
}

Result<TimerPage> RemoteProcesses::timers(const TimerListing& listing) {
  const auto rows = wire_limit(listing.limit);
  if (!rows) return refuse(rows.error());
  pb::ListTimersRequest request;
  if (listing.type) request.set_type(*listing.type);
  if (listing.aggregate) {
    EVERSHARD_TRY(AggregateId::check(*listing.aggregate));
    messages::put(*listing.aggregate, *request.mutable_aggregate());
  }
  request.set_after(listing.after);
  request.set_limit(*rows);
  pb::ListTimersResponse response;
  EVERSHARD_TRY(look(*connection_, request, [&](pb::Processes::Stub& stub, grpc::ClientContext& context) {
    return stub.ListTimers(&context, request, &response);
  }));
  TimerPage page;
  auto timers = all_of<pb::PendingTimer, PendingTimer>(response.timers());
  if (!timers) return refuse(std::move(timers).error());
  page.timers = *std::move(timers);
  if (!response.next().empty()) page.next = response.next();
  page.pending = response.pending();
  return page;
}

Result<void> RemoteProcesses::cancel_timer(const AggregateId& aggregate, const std::string& name) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::CancelTimerRequest request;
  messages::put(aggregate, *request.mutable_aggregate());
  request.set_name(name);
  EVERSHARD_TRY(sendable(request));
  pb::CancelTimerResponse response;
  return connection_->ask(
      connection_->options().timeout,
      [&](Door& door, grpc::ClientContext& context, milliseconds left) {
        put_at_least(*connection_, {}, left, request);
        return door.processes->CancelTimer(&context, request, &response);
      },
      Connection::Again::not_sent, Connection::answer_grace);
}

}  // namespace evershard::remote
