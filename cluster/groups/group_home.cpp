#include "evershard/cluster/groups/group_home.hpp"

#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "evershard/api/calls/groups_calls.hpp"
#include "evershard/api/messages/group_messages.hpp"
#include "evershard/cluster/homes/home_asker.hpp"
#include "evershard/services/groups/host/hosted_session.hpp"
#include "evershard/v1/group_homes.pb.h"

namespace evershard::cluster {
namespace {

namespace pb = evershard::v1;

/// What is forgotten was lost by its group long before.
constexpr auto silence_max = std::chrono::minutes(2);

Error no_such_session() {
  return {ErrorCode::not_found, "the group's home does not know this worker any more: it joins again"};
}

}  // namespace

void GroupHome::serve(HomeCalls& homes) {
  serve_calls<Groups>(homes, calls::groups_calls(), host_);
  homes.serve(group_calls::open, [this](const HomeCall& call) { return open(call); });
  homes.serve(group_calls::work, [this](const HomeCall& call) { return work(call); });
}

Result<std::string> GroupHome::open(const HomeCall& call) {
  pb::WorkRequest::Join wanted;
  if (!wanted.ParseFromString(call.request))
    return refuse(ErrorCode::invalid_argument, "the call to the group's home is malformed");
  sweep();
  auto session = host_.open_hosted(wanted.group(), {wanted.worker(), wanted.credit()},
                                   [] {});  // whoever asks for it comes by himself
  if (!session) return refuse(std::move(session).error());
  pb::GroupSessionOpened opened;
  opened.set_takes_begun(true);
  opened.set_lease_ms(static_cast<std::uint64_t>((*session)->lease().count()));
  const std::lock_guard lock(mutex_);
  if (closed_) return refuse(ErrorCode::unavailable, "the node is stopping");
  auto number = numbers_();
  while (sessions_.contains(number)) number = numbers_();
  sessions_.emplace(number, Session{*std::move(session), Clock::now()});
  opened.set_session(number);
  return opened.SerializeAsString();
}

std::shared_ptr<HostedSession> GroupHome::find(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(number);
  if (found == sessions_.end()) return nullptr;
  found->second.asked = Clock::now();
  return found->second.session;
}

void GroupHome::forget(std::uint64_t number) {
  std::shared_ptr<HostedSession> session;  // let go of without the lock: it leaves then
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(number);
  if (found == sessions_.end()) return;
  session = std::move(found->second.session);
  sessions_.erase(found);
}

void GroupHome::sweep() {
  std::vector<std::shared_ptr<HostedSession>> gone;
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  std::erase_if(sessions_, [&](auto& one) {
    if (now - one.second.asked < silence_max + 2 * one.second.session->lease()) return false;
    gone.push_back(std::move(one.second.session));
    return true;
  });
}

void GroupHome::close() {
  std::map<std::uint64_t, Session> sessions;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  sessions.swap(sessions_);
}

Result<std::string> GroupHome::work(const HomeCall& call) {
  const auto began = Clock::now();
  const auto half = began + (call.deadline - began) / 2;
  pb::GroupWorkAsked asked;
  if (!asked.ParseFromString(call.request))
    return refuse(ErrorCode::invalid_argument, "the call to the group's home is malformed");
  struct Worker {
    std::shared_ptr<HostedSession> session;
    std::future<std::vector<Result<void>>> settled;
    std::optional<Error> ended;
  };
  // All is understood before anything is done.
  std::vector<std::vector<GroupSettlement>> all_settlements;
  for (auto& one : *asked.mutable_sessions()) {
    auto& settlements = all_settlements.emplace_back(static_cast<std::size_t>(one.settlements_size()));
    for (int i = 0; i < one.settlements_size(); ++i)
      EVERSHARD_TRY(messages::get(*one.mutable_settlements(i), settlements[static_cast<std::size_t>(i)]));
  }
  std::vector<Worker> workers;
  for (const auto& one : asked.sessions()) {
    auto& settlements = all_settlements[workers.size()];
    auto& worker = workers.emplace_back();
    worker.session = find(one.session());
    if (!worker.session) {
      worker.ended = no_such_session();
      continue;
    }
    if (one.heard()) {
      if (auto alive = worker.session->alive(); !alive) worker.ended = std::move(alive).error();
    }
    if (settlements.empty()) continue;
    auto promise = std::make_shared<std::promise<std::vector<Result<void>>>>();
    worker.settled = promise->get_future();
    worker.session->settle(std::move(settlements),
                           [promise](std::vector<Result<void>> results) { promise->set_value(std::move(results)); });
  }

  // All of them before anything is taken: what is taken and not answered waits for its lease.
  for (const auto& worker : workers) {
    if (worker.settled.valid() && worker.settled.wait_until(call.deadline) != std::future_status::ready)
      return refuse(ErrorCode::timeout, "whether events were settled is unknown, they may come again");
  }
  pb::GroupWorkAnswered answered;
  std::size_t bytes = 0;
  for (int i = 0; i < asked.sessions_size(); ++i) {
    const auto& one = asked.sessions(i);
    auto& worker = workers[static_cast<std::size_t>(i)];
    auto& answer = *answered.add_sessions();
    answer.set_session(one.session());
    if (worker.settled.valid()) {
      for (const auto& result : worker.settled.get()) {
        auto& outcome = *answer.add_outcomes();
        if (!result) messages::put(result.error(), *outcome.mutable_refused());
      }
    }
    for (const auto position : one.renew()) {
      if (worker.ended) break;
      const auto renewed = worker.session->renew({GlobalPosition(position)});
      if (renewed) continue;
      if (renewed.error().code == ErrorCode::fenced)
        answer.add_lost(position);
      else
        worker.ended = renewed.error();
    }
    if (one.going() != pb::GroupSessionWork::GOING_STAYS && worker.session) {
      if (one.going() == pb::GroupSessionWork::GOING_IS_LOST)
        worker.session->lose();
      else
        worker.session->leave();
      forget(one.session());
      continue;
    }
    // One at least, whatever its size; then as many as an answer holds.
    for (std::uint32_t taken = 0;
         !worker.ended && taken < one.room() && bytes < HomeCalls::answer_bytes_max && Clock::now() < half; ++taken) {
      auto deliveries = worker.session->take_for(1);
      // Of what cannot be read the group's trouble tells; the worker is in the middle of others.
      if (!deliveries && deliveries.error().code != ErrorCode::corruption && deliveries.error().code != ErrorCode::io)
        worker.ended = std::move(deliveries).error();
      if (!deliveries || deliveries->empty()) break;
      messages::put(deliveries->front(), *answer.add_deliveries());
      bytes += deliveries->front().event.payload.size() + deliveries->front().event.metadata_bytes().size() + 256;
    }
    if (!worker.ended) continue;
    messages::put(*worker.ended, *answer.mutable_ended());
    forget(one.session());
  }
  return answered.SerializeAsString();
}

}  // namespace evershard::cluster
