#include "evershard/doors/remote/door_asker.hpp"

#if __has_include(<grpcpp/impl/client_unary_call.h>)
#include <grpcpp/impl/client_unary_call.h>
#else
#include <grpcpp/impl/codegen/client_unary_call.h>
#endif

#include <algorithm>
#include <limits>

#include "evershard/doors/remote/sendable.hpp"

namespace evershard::remote {
namespace {

using google::protobuf::Message;
using std::chrono::milliseconds;

Connection::Again again_at_door(calls::Again again) {
  switch (again) {
    case calls::Again::named:
      return Connection::Again::named;
    case calls::Again::not_done:
      return Connection::Again::not_sent;
    default:
      return Connection::Again::not_served;
  }
}

/// As generated code does it.
grpc::Status call_at(const Door& door, const char* path, grpc::ClientContext& context, const Message& request,
                     Message& response) {
  const grpc::internal::RpcMethod method(path, grpc::internal::RpcMethod::NORMAL_RPC);
  return grpc::internal::BlockingUnaryCall<Message, Message, google::protobuf::MessageLite,
                                           google::protobuf::MessageLite>(door.channel.get(), method, &context, request,
                                                                          &response);
}

}  // namespace

Result<void> DoorAsker::carry(const calls::Call& call, Message& request, Message& response,
                              const calls::WaitsFor& awaited) {
  EVERSHARD_TRY(sendable(request));
  const auto position = call.has_at_least ? at_least(awaited.at_least) : std::nullopt;
  const auto timeout = connection_->options().timeout;
  const bool own_time = awaited.timeout && !awaited.shared;
  const auto until = Connection::Clock::now() + std::min(awaited.timeout.value_or(timeout), Connection::time_max);
  const auto call_until = std::max(until, Connection::Clock::now() + timeout);
  for (;;) {
    const auto asked = connection_->ask(
        Connection::left(call_until),
        [&](Door& door, grpc::ClientContext& context, milliseconds left) {
          if (position) {
            const auto wait = own_time ? Connection::left(until) : connection_->wait_at_one(left);
            auto& at_least = *call.mutable_at_least(request);
            at_least.set_position(position->value);
            at_least.set_timeout_ms(static_cast<std::uint32_t>(
                std::min<std::int64_t>(wait.count(), std::numeric_limits<std::int32_t>::max())));
          }
          return call_at(door, call.name.path, context, request, response);
        },
        again_at_door(call.again(request)), call.has_at_least ? Connection::answer_grace : milliseconds(0));
    // One that answers before the time is up is asked again.
    if (asked || asked.error().code != ErrorCode::timeout || !position || !own_time ||
        Connection::left(until).count() == 0)
      return asked;
  }
}

}  // namespace evershard::remote
