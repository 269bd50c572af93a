#include "evershard/cluster/aggregates/ask_route.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace evershard::cluster {
namespace {

constexpr std::chrono::milliseconds again_min{5}, again_first{20}, again_max{500};

bool nothing_done(ErrorCode code) { return code == ErrorCode::unavailable || code == ErrorCode::wrong_shard; }

}  // namespace

std::optional<actors::SteadyTime> AskRoute::came_back(AnyAnswer& answer, actors::SteadyTime now,
                                                      actors::Jitter& jitter) {
  if (answer.kind != AnswerKind::failed) return std::nullopt;
  const bool open = answer.error.code == ErrorCode::timeout;
  if ((open && repeatable_) || nothing_done(answer.error.code)) {
    const auto at = now + again_min + jitter.delay(again_first, again_max, std::min(tries_, 16u), 2);
    if (at < deadline_) {
      ++tries_;
      unknown_ |= open;
      return at;
    }
  }
  answer = given_up(std::move(answer.error));
  return std::nullopt;
}

AnyAnswer AskRoute::given_up(Error why) const {
  if (unknown_)
    return AnyAnswer::failed(
        {ErrorCode::timeout, "the outcome of an earlier try is unknown; the last one: " + why.what});
  // Where the shard was at which time makes no difference to the caller.
  if (why.code == ErrorCode::wrong_shard) why.code = ErrorCode::unavailable;
  return AnyAnswer::failed(std::move(why));
}

}  // namespace evershard::cluster
