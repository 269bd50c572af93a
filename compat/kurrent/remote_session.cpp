#include "evershard/compat/kurrent/remote_session.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace evershard::kurrent {
namespace {

constexpr auto join_time = std::chrono::seconds(5);
constexpr auto settle_time = std::chrono::seconds(10);

/// Of the subscription, and not of the way to its home.
bool is_for_good(const Refusal& refusal) { return refusal.why == Refusal::Why::of_group; }

}  // namespace

RemoteSession::RemoteSession(serving::Homes& homes, SubscriptionName name, std::weak_ptr<PersistentConsumer> consumer,
                             PersistentConsumer::Told told, std::function<std::uint64_t()> rewritten)
    : homes_(homes),
      name_(std::move(name)),
      kept_in_(kept_in_of(name_)),
      consumer_(std::move(consumer)),
      told_(std::move(told)),
      rewritten_(std::move(rewritten)) {}

void RemoteSession::start() {
  homes::Join request;
  request.set_stream(name_.stream);
  request.set_group(name_.group);
  request.set_from(told_.from);
  request.set_user(told_.user);
  request.set_connection(told_.connection);
  request.set_slots(static_cast<std::uint32_t>(told_.slots));
  homes_.ask({home_calls::join, kept_in_, request.SerializeAsString(), join_time},
             [self = shared_from_this()](Result<std::string> reply) { self->has_joined(std::move(reply)); });
}

void RemoteSession::has_joined(Result<std::string> reply) {
  auto answer = answer_in(std::move(reply));
  if (auto* refused = std::get_if<Refusal>(&answer)) {
    const bool for_good = is_for_good(*refused);
    return end({std::move(*refused), !for_good});
  }
  homes::Joined joined;
  if (!joined.ParseFromString(std::get<Answer>(answer).bytes))
    return end({subscription_failed({ErrorCode::unavailable, "the home answers what is not understood"}), true});
  bool too_late = false;
  {
    const std::lock_guard lock(mutex_);
    session_ = joined.session();
    too_late = state_ == State::gone;
    if (!too_late) state_ = State::here;
  }
  if (too_late) return say_goodbye({});
  if (const auto consumer = consumer_.lock()) consumer->joined();
  settle();
  take();
}

void RemoteSession::take() {
  homes::Take request;
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::here) return;
    request.set_session(session_);
  }
  homes_.ask({home_calls::take, kept_in_, request.SerializeAsString(), take_time},
             [weak = weak_from_this(), read_at = rewritten_()](Result<std::string> reply) {
               if (const auto self = weak.lock()) self->has_taken(std::move(reply), read_at);
             });
}

void RemoteSession::has_taken(Result<std::string> reply, std::uint64_t read_at) {
  auto answer = answer_in(std::move(reply));
  if (auto* refused = std::get_if<Refusal>(&answer)) return end({std::move(*refused), true});
  homes::Taken taken;
  if (!taken.ParseFromString(std::get<Answer>(answer).bytes))
    return end({subscription_failed({ErrorCode::unavailable, "the home answers what is not understood"}), true});
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::here) return;
  }
  if (const auto consumer = consumer_.lock()) {
    constexpr auto never = std::numeric_limits<std::uint64_t>::max();
    for (auto& event : *taken.mutable_events()) consumer->give(std::move(event), taken.look_again() ? never : read_at);
  }
  if (taken.has_ended()) return end({refusal_in(taken.ended()), taken.moved()});
  take();
}

void RemoteSession::say(homes::Settle::How how, const std::vector<EventId>& ids, const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::gone) return;
    auto& settled = *unsaid_.add_settled();
    settled.set_how(how);
    settled.set_reason(reason);
    for (const auto& id : ids)
      settled.add_ids(std::string(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()));
  }
  settle();
}

void RemoteSession::refuse_events(const std::vector<EventId>& ids, PersistentSubscription::Nack how,
                                  const std::string& reason) {
  using Nack = PersistentSubscription::Nack;
  say(how == Nack::park   ? homes::Settle::PARK
      : how == Nack::skip ? homes::Settle::SKIP
                          : homes::Settle::RETRY,
      ids, reason);
}

void RemoteSession::settle() {
  homes::Settle request;
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::here || settling_ || unsaid_.settled_size() == 0) return;
    settling_ = true;
    request.Swap(&unsaid_);
    request.set_session(session_);
  }
  homes_.ask({home_calls::settle, kept_in_, request.SerializeAsString(), settle_time},
             [weak = weak_from_this()](Result<std::string> reply) {
               const auto self = weak.lock();
               if (!self) return;
               auto answer = answer_in(std::move(reply));
               if (auto* refused = std::get_if<Refusal>(&answer)) return self->end({std::move(*refused), true});
               {
                 const std::lock_guard lock(self->mutex_);
                 self->settling_ = false;
               }
               self->settle();
             });
}

void RemoteSession::say_goodbye(homes::Settle last) {
  last.set_session(session_);
  last.set_leaves(true);
  homes_.ask({home_calls::settle, kept_in_, last.SerializeAsString(), settle_time}, [](const Result<std::string>&) {});
}

bool RemoteSession::go() {
  homes::Settle last;
  State before{};
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(state_, State::gone);
    last.Swap(&unsaid_);
  }
  if (before == State::here) say_goodbye(std::move(last));
  return before != State::gone;
}

void RemoteSession::leave() { go(); }

void RemoteSession::end(const Dropped& how) {
  if (!go()) return;
  if (const auto consumer = consumer_.lock()) consumer->drop(how);
}

}  // namespace evershard::kurrent
