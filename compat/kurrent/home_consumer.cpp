#include "evershard/compat/kurrent/home_consumer.hpp"

#include <algorithm>
#include <utility>

namespace evershard::kurrent {
namespace {

std::vector<EventId> ids_of(const homes::Settle::Settled& settled) {
  std::vector<EventId> ids;
  for (const auto& bytes : settled.ids()) {
    EventId id;
    if (bytes.size() != id.bytes.size()) continue;
    std::ranges::copy(bytes, id.bytes.begin());
    ids.push_back(id);
  }
  return ids;
}

}  // namespace

void HomeConsumer::has(std::shared_ptr<PersistentSession> session) {
  const std::lock_guard lock(mutex_);
  session_ = std::move(session);
}

homes::Taken HomeConsumer::taken() {
  homes::Taken taken;
  std::size_t bytes = 0;
  while (!waiting_.empty()) {
    auto& [event, read_at] = waiting_.front();
    const auto next = event.ByteSizeLong();
    if (bytes > 0 && bytes + next > taken_bytes_max) return taken;
    bytes += next;
    // Nothing here may wait for the disk: whoever gives it out does.
    if (read_at != rewritten_()) taken.set_look_again(true);
    *taken.add_events() = std::move(event);
    waiting_.pop_front();
  }
  if (ended_) {
    put(ended_->why, *taken.mutable_ended());
    taken.set_moved(ended_->moved);
  }
  return taken;
}

void HomeConsumer::answer() {
  serving::Homes::Done done;
  homes::Taken answer;
  {
    const std::lock_guard lock(mutex_);
    if (!asked_) return;
    done = std::exchange(asked_, {});
    answer = taken();
  }
  done(reply_of({}, answer.SerializeAsString()));
}

void HomeConsumer::give(esps::ReadResp event, std::uint64_t read_at) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(event), read_at});
  }
  answer();
}

void HomeConsumer::drop(const Dropped& how) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) ended_ = how;
  }
  answer();
}

void HomeConsumer::take(Clock::time_point now, serving::Homes::Done done) {
  answer();
  bool something = false;
  {
    const std::lock_guard lock(mutex_);
    heard_ = now;
    asked_ = std::move(done);
    asked_at_ = now;
    something = !waiting_.empty() || ended_.has_value();
  }
  if (something) answer();
}

void HomeConsumer::settle(Clock::time_point now, const homes::Settle& asked) {
  std::shared_ptr<PersistentSession> session;
  {
    const std::lock_guard lock(mutex_);
    heard_ = now;
    session = session_;
  }
  if (!session) return;
  for (const auto& settled : asked.settled()) {
    switch (settled.how()) {
      case homes::Settle::PARK:
        session->refuse_events(ids_of(settled), PersistentSubscription::Nack::park, settled.reason());
        break;
      case homes::Settle::RETRY:
        session->refuse_events(ids_of(settled), PersistentSubscription::Nack::retry, settled.reason());
        break;
      case homes::Settle::SKIP:
        session->refuse_events(ids_of(settled), PersistentSubscription::Nack::skip, settled.reason());
        break;
      default:
        session->acknowledge(ids_of(settled));
    }
  }
}

bool HomeConsumer::look(Clock::time_point now) {
  bool waited = false;
  bool gone = false;
  {
    const std::lock_guard lock(mutex_);
    waited = asked_ && now - asked_at_ >= nothing_after;
    gone = !asked_ && now - heard_ >= silence_max;
    if (waited) heard_ = now;
  }
  if (waited) answer();
  return gone;
}

void HomeConsumer::leave() {
  std::shared_ptr<PersistentSession> session;
  {
    const std::lock_guard lock(mutex_);
    session = std::exchange(session_, nullptr);
  }
  if (session) session->leave();
  answer();
}

}  // namespace evershard::kurrent
