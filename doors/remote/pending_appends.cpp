#include "evershard/doors/remote/pending_appends.hpp"

#include <algorithm>
#include <utility>

namespace evershard::remote {

Result<void> PendingAppends::add(std::string request, Clock::time_point deadline, AppendCompletion& done) {
  if (pending_.size() >= bounds_.appends || (bytes_ + request.size() > bounds_.bytes && !pending_.empty())) {
    return refuse(ErrorCode::overloaded, std::to_string(pending_.size()) + " appends of " + std::to_string(bytes_) +
                                             " bytes are in flight to the server");
  }
  bytes_ += request.size();
  ++waiting_;
  pending_.push_back({std::move(request), deadline, std::move(done)});
  return {};
}

const std::string* PendingAppends::next_to_send() {
  if (sent_ == pending_.size()) return nullptr;
  return &pending_[sent_++].request;
}

std::optional<PendingAppends::Ended> PendingAppends::answered(Result<Appended> result) {
  if (sent_ == 0) return std::nullopt;
  auto done = std::move(pending_.front().done);
  auto outcome = pending_.front().outcome;
  bytes_ -= pending_.front().request.size();
  pending_.pop_front();
  --sent_;
  if (!done) return std::nullopt;
  --waiting_;
  if (!result) {
    outcome.failed(result.error(), true);
    result = refuse(outcome.end(std::move(result).error(), true));
  }
  return Ended{std::move(done), std::move(result)};
}

void PendingAppends::note_arrived(bool reached) {
  for (std::size_t i = 0; reached && i != sent_; ++i) pending_[i].outcome.arrived();
}

std::vector<PendingAppends::Ended> PendingAppends::expired(Clock::time_point now, bool reached,
                                                           const std::string& why) {
  std::vector<Ended> ended;
  for (std::size_t i = 0; i != pending_.size(); ++i) {
    auto& pending = pending_[i];
    if (pending.deadline > now) break;  // they were added in this order
    if (!pending.done) continue;
    --waiting_;
    const bool arrived = pending.outcome.unknown() || (reached && i < sent_);
    const auto code = arrived ? ErrorCode::timeout : ErrorCode::unavailable;
    const std::string what = arrived
                                 ? "no answer in time; whether it was stored is unknown: the same append again tells"
                                 : "the append was not sent in time";
    ended.push_back({std::exchange(pending.done, nullptr), refuse(code, why.empty() ? what : what + " (" + why + ")")});
  }
  // What was not sent on this stream needs no place in it.
  for (auto unsent = pending_.begin() + static_cast<std::ptrdiff_t>(sent_); unsent != pending_.end();) {
    if (unsent->done) {
      ++unsent;
      continue;
    }
    bytes_ -= unsent->request.size();
    unsent = pending_.erase(unsent);
  }
  return ended;
}

void PendingAppends::broken(bool reached) {
  note_arrived(reached);
  sent_ = 0;
  std::erase_if(pending_, [this](const Pending& pending) {
    if (pending.done) return false;
    bytes_ -= pending.request.size();
    return true;
  });
}

std::optional<PendingAppends::Ended> PendingAppends::refuse_largest(const Error& too_large) {
  if (sent_ == 0) return std::nullopt;
  const auto largest =
      std::max_element(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(sent_),
                       [](const Pending& a, const Pending& b) { return a.request.size() < b.request.size(); });
  auto refused = std::move(*largest);
  bytes_ -= refused.request.size();
  pending_.erase(largest);
  --sent_;
  if (!refused.done) return std::nullopt;
  --waiting_;
  return Ended{std::move(refused.done), refuse(refused.outcome.end(too_large, false))};
}

std::vector<PendingAppends::Ended> PendingAppends::all(bool reached, const Error& last, bool told) {
  note_arrived(reached);
  std::vector<Ended> ended;
  for (auto& pending : pending_) {
    if (pending.done) ended.push_back({std::move(pending.done), refuse(pending.outcome.end(last, told))});
  }
  pending_.clear();
  sent_ = bytes_ = waiting_ = 0;
  return ended;
}

std::optional<PendingAppends::Clock::time_point> PendingAppends::next_deadline() const {
  for (const auto& pending : pending_) {
    if (pending.done) return pending.deadline;  // all have the same time from when they were added
  }
  return std::nullopt;
}

}  // namespace evershard::remote
