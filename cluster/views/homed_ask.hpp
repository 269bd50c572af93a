// What the doors' messages are between nodes: the request and the answer of a call to a home.

#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// At a home, one that waits holds one of few threads: so long at once, then it is asked again.
inline constexpr std::chrono::milliseconds home_wait = std::chrono::seconds(1);
/// What changes a definition waits for an append, and that for a cut.
inline constexpr std::chrono::milliseconds home_change_time = std::chrono::seconds(20);

/// Errors: those of HomeCalls::call; timeout: what was answered cannot be read
template <class Request, class Response>
[[nodiscard]] Result<void> ask_home(HomeCalls& homes, const char* method, AggregateId definition,
                                    const Request& request, Response& response, std::chrono::milliseconds time,
                                    HomeCalls::Again again) {
  const auto bytes = homes.call({method, std::move(definition), request.SerializeAsString(), time}, again);
  if (!bytes) return refuse(bytes.error());
  if (response.ParseFromString(*bytes)) return {};
  return refuse(ErrorCode::timeout, "the outcome is unknown: a home answered what cannot be read");
}

/// `answer(request, response)` -> Result<void>, asked by ask_home.
template <class Request, class Response, class Answer>
void serve_home(HomeCalls& homes, const char* method, Answer answer) {
  homes.serve(method, [answer = std::move(answer)](const HomeCall& call) -> Result<std::string> {
    Request request;
    if (!request.ParseFromString(call.request))
      return refuse(ErrorCode::invalid_argument, "a node asks a home what cannot be read");
    Response response;
    EVERSHARD_TRY(answer(request, response));
    return response.SerializeAsString();
  });
}

/// Its home was here a moment ago: it is asked for where it is now.
[[nodiscard]] inline bool has_just_gone(const Error& error) { return error.code == ErrorCode::wrong_shard; }

/// A wait for a position: in parts, until it is over. `once(time)` -> Result<T>, waits so long at the home.
template <class Once>
[[nodiscard]] auto wait_in_parts(std::chrono::milliseconds timeout, Once once) {
  const auto until =
      std::chrono::steady_clock::now() + std::min<std::chrono::milliseconds>(timeout, std::chrono::hours(24));
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    auto outcome = once(std::clamp(left, std::chrono::milliseconds(0), home_wait));
    if (outcome || outcome.error().code != ErrorCode::timeout || std::chrono::steady_clock::now() >= until)
      return outcome;
  }
}

}  // namespace evershard::cluster
