// A call of one request and one answer, decided in the pool, whose refusal clients find in its trailers.

#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "evershard/compat/kurrent/kurrent.hpp"
#include "evershard/compat/kurrent/refusals.hpp"

namespace evershard::kurrent {

/// Shape: `answer`: std::optional<Refusal>(Request&, Response&)
template <class Request, class Response, class Answer>
grpc::ServerUnaryReactor* answer_or_refuse(const std::shared_ptr<Kurrent>& kurrent, serving::MethodMetrics& counted,
                                           grpc::CallbackServerContext* context, const grpc::ByteBuffer* in,
                                           grpc::ByteBuffer* out, serving::Scope scope, Answer answer) {
  auto* reactor = context->DefaultReactor();
  auto here = std::make_shared<door::UnderWay>(kurrent->calls, counted);
  auto request = std::make_shared<Request>();
  const auto taken = [&]() -> Result<void> {
    const auto caller = here->admit(*context, scope, in->Length());
    if (!caller) return refuse(caller.error());
    return door::parse(kurrent->calls, *in, *request);
  }();
  if (!taken) {
    Refusal refusal;
    refusal.error = taken.error();
    reactor->Finish(status_of(*here, *context, refusal, 0));
    return reactor;
  }
  kurrent->calls.served.pool.run([=, answer = std::move(answer)] {
    Response response;
    if (const std::optional<Refusal> refused = answer(*request, response))
      return reactor->Finish(status_of(*here, *context, *refused, 0));
    *out = door::bytes_of(response);
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

}  // namespace evershard::kurrent
