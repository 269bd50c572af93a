#include "evershard/compat/kurrent/lasting_session.hpp"

#include <algorithm>
#include <utility>

#include "evershard/compat/kurrent/event_form.hpp"

namespace evershard::kurrent {
namespace {

constexpr std::chrono::milliseconds first_pause = std::chrono::milliseconds(25);
constexpr std::chrono::milliseconds longest_pause = std::chrono::seconds(1);
constexpr std::chrono::milliseconds away_for_good = std::chrono::seconds(60);

Result<EventId> id_given(const esps::ReadResp::ReadEvent& event) {
  return id_of(event.has_link() ? event.link().id() : event.event().id());
}

void say_to(PersistentSession& session, const std::vector<EventId>& ids, const CarriedEvents::Said& what) {
  if (what.refused) return session.refuse_events(ids, *what.refused, what.reason);
  session.acknowledge(ids);
}

}  // namespace

void LastingSession::start() { try_to_join(); }

void LastingSession::try_to_join() {
  {
    const std::lock_guard lock(mutex_);
    if (left_) return;
  }
  auto joined = join_(shared_from_this());
  if (auto* refused = std::get_if<Refusal>(&joined)) {
    if (refused->why != Refusal::Why::of_group) return try_later(*refused);
    return drop({std::move(*refused)});
  }
  auto session = std::get<std::shared_ptr<PersistentSession>>(std::move(joined));
  {
    const std::lock_guard lock(mutex_);
    if (left_) return;  // which ends the session
    session_ = session;
  }
  session->start();
}

void LastingSession::try_later(const Refusal& why) {
  std::chrono::milliseconds pause{};
  bool for_good = false;
  {
    const std::lock_guard lock(mutex_);
    if (left_) return;
    for_good = Clock::now() - away_since_ >= away_for_good;
    pause = pause_ = std::clamp(pause_ * 2, first_pause, longest_pause);
  }
  if (for_good) {
    if (const auto consumer = consumer_.lock()) consumer->drop({why});
    return;
  }
  const auto ticket = served_.watch.at(serving::HeadWatch::Clock::now() + pause,
                                       [weak = weak_from_this(), &pool = served_.pool](const Result<void>& there) {
                                         if (!there) return;
                                         pool.run([weak] {
                                           if (const auto self = weak.lock()) self->try_to_join();
                                         });
                                       });
  const std::lock_guard lock(mutex_);
  trying_ = ticket;
}

void LastingSession::joined() {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    is_first = !std::exchange(known_, true);
    here_ = true;
    pause_ = std::chrono::milliseconds(0);
  }
  if (!is_first) return;
  if (const auto consumer = consumer_.lock()) consumer->joined();
}

void LastingSession::give(esps::ReadResp event, std::uint64_t read_at) {
  const auto id = id_given(event.event());
  CarriedEvents::Given given;
  std::shared_ptr<PersistentSession> session;
  {
    const std::lock_guard lock(mutex_);
    if (id) given = carried_.given(*id);
    session = session_;
  }
  switch (given.what) {
    case CarriedEvents::What::pass:
      if (const auto consumer = consumer_.lock()) consumer->give(std::move(event), read_at);
      return;
    case CarriedEvents::What::keep_back:
      return;
    case CarriedEvents::What::say_again:
      if (session) say_to(*session, {*id}, given.said);
  }
}

void LastingSession::drop(const Dropped& how) {
  std::shared_ptr<PersistentSession> old;
  {
    const std::lock_guard lock(mutex_);
    old = std::exchange(session_, nullptr);
    if (std::exchange(here_, false)) away_since_ = Clock::now();
    carried_.moved();
    if (left_) return;
  }
  if (how.moved) return try_later(how.why);
  if (const auto consumer = consumer_.lock()) consumer->drop(how);
}

void LastingSession::leave() {
  std::shared_ptr<PersistentSession> session;
  serving::HeadWatch::Ticket trying = 0;
  {
    const std::lock_guard lock(mutex_);
    left_ = true;
    session = std::exchange(session_, nullptr);
    trying = std::exchange(trying_, 0);
  }
  if (trying != 0) served_.watch.cancel(trying);
  if (session) session->leave();
}

void LastingSession::say(const std::vector<EventId>& ids, const CarriedEvents::Said& what) {
  std::shared_ptr<PersistentSession> session;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& id : ids) carried_.said(id, what);
    session = session_;
  }
  if (session) say_to(*session, ids, what);
}

void LastingSession::acknowledge(const std::vector<EventId>& ids) { say(ids, {}); }
void LastingSession::refuse_events(const std::vector<EventId>& ids, PersistentSubscription::Nack how,
                                   const std::string& reason) {
  say(ids, {how, reason});
}

}  // namespace evershard::kurrent
