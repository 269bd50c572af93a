#include "evershard/doors/remote/remote_aggregates.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "evershard/api/messages/hosted_messages.hpp"
#include "evershard/api/messages/messages.hpp"
#include "evershard/doors/remote/sendable.hpp"

namespace evershard::remote {
namespace {

using std::chrono::milliseconds;

AnyAnswer answer_in(Connection& connection, pb::AskResponse& response) {
  if (response.has_rejected())
    return AnyAnswer::rejected(std::move(*response.mutable_rejected()->mutable_reason()),
                               SeqNr(response.rejected().version()));
  if (!response.has_replied())
    return AnyAnswer::failed(
        {ErrorCode::invalid_argument, "the server answered with an outcome that is not known here"});
  auto& replied = *response.mutable_replied();
  const GlobalPosition position(replied.position());
  connection.see(position);
  return AnyAnswer::replied(std::move(*replied.mutable_reply()), SeqNr(replied.version()), position,
                            replied.duplicate());
}

}  // namespace

AnyAnswer ask(Connection& connection, const AggregateId& aggregate, std::string command_type, std::string command,
              AskOptions options) {
  if (auto checked = AggregateId::check(aggregate); !checked) return AnyAnswer::failed(std::move(checked).error());
  pb::AskRequest request;
  messages::put(aggregate, *request.mutable_aggregate());
  request.set_command(std::move(command_type));
  request.set_bytes(std::move(command));
  request.set_command_id(std::move(options.command_id));
  if (auto can = sendable(request); !can) return AnyAnswer::failed(std::move(can).error());
  pb::AskResponse response;
  const auto again = request.command_id().empty() ? Connection::Again::not_sent : Connection::Again::named;
  const auto done = connection.ask(
      options.timeout.value_or(connection.options().timeout),
      [&](Door& door, grpc::ClientContext& context, milliseconds left) {
        if (options.timeout)
          request.set_timeout_ms(static_cast<std::uint32_t>(
              std::clamp<std::int64_t>(left.count(), 1, std::numeric_limits<std::uint32_t>::max())));
        return door.aggregates->Ask(&context, request, &response);
      },
      again, Connection::answer_grace);
  if (!done) return AnyAnswer::failed(done.error());
  return answer_in(connection, response);
}

Result<HostedKinds> hosted_kinds(Connection& connection) {
  pb::ListKindsResponse response;
  EVERSHARD_TRY(connection.ask([&](Door& door, grpc::ClientContext& context, milliseconds) {
    return door.aggregates->ListKinds(&context, pb::ListKindsRequest(), &response);
  }));
  HostedKinds kinds;
  messages::get(response, kinds);
  return kinds;
}

}  // namespace evershard::remote
