#include "evershard/cluster/homes/home_asker.hpp"

#include <algorithm>

namespace evershard::cluster {
namespace {

using google::protobuf::Message;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// At a home, one that waits holds one of few threads: so long at once, then it is asked again.
constexpr milliseconds home_wait = std::chrono::seconds(1);
/// Of a request that names no position, for rows that are being made: it is not asked again.
constexpr milliseconds rows_wait = std::chrono::seconds(5);
constexpr milliseconds whole_wait_max = std::chrono::hours(24);  ///< what is longer may overflow the clock

HomeCalls::Again again_at_home(calls::Again again) {
  if (again == calls::Again::read) return HomeCalls::Again::read;
  return again == calls::Again::not_done ? HomeCalls::Again::not_done : HomeCalls::Again::always;
}

}  // namespace

Result<void> ask_home(HomeCalls& homes, const char* method, AggregateId definition, const Message& request,
                      Message& response, milliseconds time, HomeCalls::Again again) {
  const auto bytes = homes.call({method, std::move(definition), request.SerializeAsString(), time}, again);
  if (!bytes) return refuse(bytes.error());
  if (response.ParseFromString(*bytes)) return {};
  return refuse(ErrorCode::timeout, "the outcome is unknown: a home answered what cannot be read");
}

Result<void> HomeAsker::carry(const calls::Call& call, Message& request, Message& response,
                              const calls::WaitsFor& awaited) {
  const auto& name = call.definition(request);
  EVERSHARD_TRY(actors::check_definition_name(names_.category(), name));
  EVERSHARD_CHECK(!awaited.at_least || call.has_at_least, "a position is waited for where a request can name it");
  const auto again = call.again(request);
  const auto time = again == calls::Again::read ? times_.read : times_.change;
  const auto wait = awaited.at_least ? awaited.timeout.value_or(milliseconds(0)) : milliseconds(0);
  const auto until = Clock::now() + std::min(wait, whole_wait_max);
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    const auto part = std::clamp(left, milliseconds(0), home_wait);
    if (awaited.at_least) {
      auto& at_least = *call.mutable_at_least(request);
      at_least.set_position(awaited.at_least->value);
      at_least.set_timeout_ms(static_cast<std::uint32_t>(part.count()));
    }
    const auto asked = ask_home(homes_, call.at_home, names_.aggregate(name), request, response, std::max(part, time),
                                again_at_home(again));
    if (asked || asked.error().code != ErrorCode::timeout || Clock::now() >= until) return asked;
  }
}

Result<std::string> answered_at_home(
    const calls::Call& call, const std::string& bytes,
    const std::function<Result<void>(Message& request, Message& response, milliseconds wait)>& answer) {
  const auto request = call.request(), response = call.response();
  if (!request->ParseFromString(bytes))
    return refuse(ErrorCode::invalid_argument, "a node asks a home what cannot be read");
  const auto* at_least = call.at_least(*request);
  const auto wait = at_least != nullptr ? milliseconds(at_least->timeout_ms()) : rows_wait;
  for (;;) {
    response->Clear();
    EVERSHARD_TRY(answer(*request, *response, wait));
    const auto limit = call.limit(*request);
    if (!call.in_parts || limit <= 1 || response->ByteSizeLong() <= HomeCalls::answer_bytes_max)
      return response->SerializeAsString();
    call.set_limit(*request, limit / 2);
  }
}

}  // namespace evershard::cluster
