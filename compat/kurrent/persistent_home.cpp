#include "evershard/compat/kurrent/persistent_home.hpp"

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

namespace evershard::kurrent {
namespace {

using Asked = serving::Homes::Asked;

constexpr auto looks_every = std::chrono::seconds(1);
constexpr std::size_t slots_max = 10'000;

Refusal no_such_session() {
  return subscription_failed({ErrorCode::not_found, "the home does not know this consumer any more: he joins again"});
}

/// Shape: `answer`: std::optional<Refusal>(PersistentHost&, Request&, Response&)
template <class Request, class Response, class Answer>
serving::Homes::Handler answered(const std::weak_ptr<PersistentHome>& home, Answer answer) {
  return [home, answer](const Asked& asked) -> Result<std::string> {
    const auto here = home.lock();
    if (!here) return refuse(ErrorCode::unavailable, "the node is stopping");
    Request request;
    if (!request.ParseFromString(asked.request))
      return refuse(ErrorCode::invalid_argument, "the call to a persistent subscription's home is malformed");
    Response response;
    const std::optional<Refusal> refused = answer(here->host(), request, response);
    const auto seen = here->events().head();
    return reply_of(refused, response.SerializeAsString(), seen ? *seen : GlobalPosition{});
  };
}

}  // namespace

std::shared_ptr<PersistentHome> PersistentHome::start(serving::Served& served, serving::Homes& homes) {
  auto home = std::make_shared<PersistentHome>(served, homes);
  home->serve();
  return home;
}

PersistentHome::PersistentHome(serving::Served& served, serving::Homes& homes)
    : homes_(homes),
      calls_("kurrent", served, no_answers_, 0, 0, 0, {}),
      kurrent_(calls_, {}),
      host_(kurrent_, &homes) {}

PersistentHome::~PersistentHome() { stop(); }

void PersistentHome::serve() {
  const auto weak = weak_from_this();
  homes_.serve(home_calls::create,
               answered<esps::CreateReq, esps::CreateResp>(
                   weak, [](auto& host, auto& request, auto&) { return host.create(request.options()); }));
  homes_.serve(home_calls::update,
               answered<esps::UpdateReq, esps::UpdateResp>(
                   weak, [](auto& host, auto& request, auto&) { return host.update(request.options()); }));
  homes_.serve(home_calls::remove, answered<homes::Named, esps::DeleteResp>(weak, [](auto& host, auto& request, auto&) {
                 return host.remove({request.stream(), request.group()});
               }));
  homes_.serve(home_calls::info,
               answered<homes::Named, esps::SubscriptionInfo>(weak, [](auto& host, auto& request, auto& response) {
                 return host.info({request.stream(), request.group()}, response);
               }));
  homes_.serve(home_calls::replay,
               answered<homes::Named, esps::ReplayParkedResp>(weak, [](auto& host, auto& request, auto&) {
                 return host.replay({request.stream(), request.group()}, request.most());
               }));
  homes_.serve(home_calls::truncate_parked,
               answered<homes::Named, esps::TruncateParkedResp>(weak, [](auto& host, auto& request, auto&) {
                 return host.truncate_parked({request.stream(), request.group()}, request.most());
               }));
  homes_.serve(home_calls::restart,
               answered<homes::Named, esps::DeleteResp>(weak, [](auto& host, auto& request, auto&) {
                 return host.restart(SubscriptionName{request.stream(), request.group()});
               }));
  const auto gone = [] { return refuse(ErrorCode::unavailable, "the node is stopping"); };
  homes_.serve(home_calls::join, [weak, gone](const Asked& asked) -> Result<std::string> {
    const auto here = weak.lock();
    return here ? here->join(asked) : gone();
  });
  homes_.serve(home_calls::settle, [weak, gone](const Asked& asked) -> Result<std::string> {
    const auto here = weak.lock();
    return here ? here->settle(asked) : gone();
  });
  homes_.serve_later(home_calls::take, [weak, gone](const Asked& asked, serving::Homes::Done done) {
    if (const auto here = weak.lock()) return here->take(asked, std::move(done));
    done(gone());
  });
  homes_.watch([weak, &pool = calls_.served.pool] {
    pool.run([weak] {
      if (const auto here = weak.lock()) here->host_.look_at_homes();
    });
  });
}

Result<std::string> PersistentHome::join(const Asked& asked) {
  homes::Join request;
  if (!request.ParseFromString(asked.request))
    return refuse(ErrorCode::invalid_argument, "the call to a persistent subscription's home is malformed");
  const auto slots = std::clamp<std::size_t>(request.slots(), 1, slots_max);
  const auto consumer = std::make_shared<HomeConsumer>(Clock::now(), calls_.served.rewritten);
  auto joined = host_.join({request.stream(), request.group()}, consumer,
                           {request.from(), request.user(), request.connection(), slots});
  if (auto* refused = std::get_if<Refusal>(&joined)) return reply_of(*refused, {});
  auto session = std::get<std::shared_ptr<PersistentSession>>(joined);
  consumer->has(session);
  homes::Joined answer;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return refuse(ErrorCode::unavailable, "the node is stopping");
    auto number = numbers_();
    while (consumers_.contains(number)) number = numbers_();
    consumers_[number] = consumer;
    answer.set_session(number);
  }
  session->start();
  look_soon();
  return reply_of({}, answer.SerializeAsString());
}

std::shared_ptr<HomeConsumer> PersistentHome::find(std::uint64_t session) {
  const std::lock_guard lock(mutex_);
  const auto found = consumers_.find(session);
  return found == consumers_.end() ? nullptr : found->second;
}

void PersistentHome::take(const Asked& asked, serving::Homes::Done done) {
  homes::Take request;
  const auto consumer = request.ParseFromString(asked.request) ? find(request.session()) : nullptr;
  if (!consumer) return done(reply_of(no_such_session(), {}));
  consumer->take(Clock::now(), std::move(done));
}

Result<std::string> PersistentHome::settle(const Asked& asked) {
  homes::Settle request;
  const auto consumer = request.ParseFromString(asked.request) ? find(request.session()) : nullptr;
  if (!consumer) return reply_of(no_such_session(), {});
  consumer->settle(Clock::now(), request);
  if (request.leaves()) {
    {
      const std::lock_guard lock(mutex_);
      consumers_.erase(request.session());
    }
    consumer->leave();
  }
  return reply_of({}, {});
}

std::size_t PersistentHome::consumers() {
  const std::lock_guard lock(mutex_);
  return consumers_.size();
}

void PersistentHome::look_soon() {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || consumers_.empty() || std::exchange(looks_, true)) return;
  }
  calls_.served.watch.at(serving::HeadWatch::Clock::now() + looks_every,
                         [weak = weak_from_this(), &pool = calls_.served.pool](const Result<void>& there) {
                           if (!there) return;
                           pool.run([weak] {
                             if (const auto here = weak.lock()) here->look();
                           });
                         });
}

void PersistentHome::look() {
  std::vector<std::pair<std::uint64_t, std::shared_ptr<HomeConsumer>>> all;
  {
    const std::lock_guard lock(mutex_);
    looks_ = false;
    all.assign(consumers_.begin(), consumers_.end());
  }
  const auto now = Clock::now();
  for (const auto& [number, consumer] : all) {
    if (!consumer->look(now)) continue;
    {
      const std::lock_guard lock(mutex_);
      consumers_.erase(number);
    }
    consumer->leave();
  }
  look_soon();
}

void PersistentHome::stop() {
  homes_.watch({});
  host_.stop({subscription_failed({ErrorCode::unavailable, "the server is stopping"}), true});
  std::map<std::uint64_t, std::shared_ptr<HomeConsumer>> all;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    all.swap(consumers_);
  }
  for (const auto& [number, consumer] : all) consumer->leave();
  while (calls_.under_way != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace evershard::kurrent
