#include "evershard/doors/serving/unread_answers.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::serving {

void UnreadAnswers::sends(Call call, std::size_t bytes, Clock::time_point now) {
  const bool added = sending_.emplace(call, Sending{bytes, now}).second;
  EVERSHARD_CHECK(added, "a call sends one answer at a time");
  bytes_ += bytes;
}

void UnreadAnswers::took(Call call) {
  const auto found = sending_.find(call);
  if (found == sending_.end()) return;
  bytes_ -= found->second.bytes;
  sending_.erase(found);
}

std::vector<UnreadAnswers::Call> UnreadAnswers::to_give_up(Clock::time_point now) {
  if (has_room()) return {};
  std::size_t left = 0;  // by those that are not given up yet: the others' is as good as gone
  std::vector<std::pair<Clock::time_point, Call>> slow;
  for (const auto& [call, sending] : sending_) {
    if (sending.given_up) continue;
    left += sending.bytes;
    if (now - sending.since >= options_.patience) slow.emplace_back(sending.since, call);
  }
  std::ranges::sort(slow);
  std::vector<Call> all;
  for (const auto& [since, call] : slow) {
    if (left < options_.bytes_max) break;
    auto& sending = sending_.at(call);
    sending.given_up = true;
    left -= sending.bytes;
    all.push_back(call);
  }
  return all;
}

}  // namespace evershard::serving
