#include "evershard/doors/grpc/group_work_call.hpp"

#include <algorithm>
#include <utility>

#include "evershard/api/messages/group_messages.hpp"
#include "evershard/api/messages/refusal.hpp"
#include "evershard/doors/grpc/group_service.hpp"
#include "evershard/doors/serving/history_heard.hpp"

namespace evershard::door {
namespace {

constexpr std::size_t unanswered_max = 256;        ///< batches, or messages that are not taken; then it is not read on
constexpr std::size_t settlements_max = 10'000;    ///< a message; as many renewals
constexpr std::size_t taken_bytes_max = 1u << 20;  ///< a message
constexpr std::size_t refusal_bytes_max = 64u << 10;
constexpr int looks_again_max = 8;  ///< while things are removed all the time; then others have the thread

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* GroupWorkCall::start(
    Calls& calls, serving::MethodMetrics& counted, grpc::CallbackServerContext* context) {
  auto call = std::make_shared<GroupWorkCall>(calls, counted);
  call->self_ = call;
  auto* reactor = call.get();
  if (calls.names_history) call->led_ = calls.served.led();
  // What a worker settles is a change, and what it is given are events.
  if (auto admitted = call->here_.admit_stream(*context, serving::Scope::read | serving::Scope::append, 0); !admitted) {
    call->finished_ = true;
    call->Finish(call->here_.refused(admitted.error()));
  } else if (!calls.remember(call)) {
    call->finished_ = true;
    call->Finish(call->here_.refused(calls_stopping()));
  } else {
    call->reading_ = true;
    call->StartRead(&call->incoming_);
  }
  return reactor;
}

void GroupWorkCall::OnReadDone(bool ok) {
  const auto keep = shared_from_this();
  pb::WorkRequest request;
  std::shared_ptr<GroupSession> session;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    session = session_;
    first = !session_ && !joining_;
    if (ok && first) joining_ = true;
  }
  if (!ok) {
    // It said all that it had to say, and not that it leaves: as if the line had gone.
    end(grpc::Status::OK);
  } else if (auto over = here_.over_limit(incoming_.Length())) {
    end(here_.refused(over->error));
  } else if (auto parsed = parse(calls_, incoming_, request); !parsed) {
    end(here_.refused(parsed.error()));
  } else if (request.has_join() != first) {
    end(here_.refused({ErrorCode::invalid_argument,
                       first ? "join: is missing in the first message" : "join: a worker joins once a stream"}));
  } else if (first) {
    calls_.served.pool.run([keep, join = request.join()] { keep->join(join); });
  } else if (request.leave()) {
    if (request.settlements_size() > 0) settle(request);  // what it says with its last word counts
    {
      const std::lock_guard lock(mutex_);
      leaving_ = true;
    }
    session->leave();
    end(grpc::Status::OK);
  } else {
    heard(request);
  }
  {
    // Not before: an answer to this message begins the next read, and that may be the one in which it leaves.
    const std::lock_guard lock(mutex_);
    reading_ = false;
  }
  go_on();
}

void GroupWorkCall::join(const pb::WorkRequest::Join& wanted) {
  const auto groups = groups_of(calls_);
  if (!groups) {
    end(here_.refused(groups.error()));
    return go_on();
  }
  GroupJoin join{.name = wanted.worker()};
  if (wanted.has_credit()) join.credit = wanted.credit();
  std::weak_ptr<GroupWorkCall> weak = shared_from_this();
  auto session = (*groups)->open_session(wanted.group(), join, [weak] {
    if (const auto call = weak.lock()) call->pump();
  });
  if (!session) {
    end(here_.refused(session.error()));
    return go_on();
  }
  pb::WorkResponse response;
  response.mutable_joined()->set_takes_begun(true);
  response.mutable_joined()->set_lease_ms(static_cast<std::uint64_t>((*session)->lease().count()));
  bool too_late = false;
  {
    const std::lock_guard lock(mutex_);
    too_late = finished_ || ending_;
    if (!too_late) session_ = *session;
  }
  if (too_late) return (*session)->leave();
  send(response);
  go_on();
  pump();
}

bool GroupWorkCall::parts() {
  const auto led = calls_.served.led();
  if (led == nullptr) return false;
  Result<void> goes_on;
  {
    const std::lock_guard lock(mutex_);
    if (led_ == nullptr && calls_.names_history) led_ = led;  // the node knew of no leadership when the call began
    if (led_ == nullptr || led == led_) return false;
    goes_on = serving::goes_on({}, *led_, {}, led.get());
    if (goes_on) led_ = led;  // the next coordinator of the same history
  }
  if (goes_on) return false;
  std::shared_ptr<GroupSession> session;
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return true;
    leaving_ = true;
    session = session_;
  }
  if (session) session->leave();  // no event's fault
  end(here_.refused({ErrorCode::unavailable,
                     "this node has come to another history than the worker joined: it joins "
                     "again (" +
                         goes_on.error().what + ')'}));
  return true;
}

void GroupWorkCall::heard(pb::WorkRequest& request) {
  if (parts()) return;
  if (request.settlements_size() > 0) settle(request);
  if (request.renew_size() > 0) return renew(request);
  if (auto alive = session_->alive(); !alive) end(here_.refused(alive.error()));
}

void GroupWorkCall::settle(pb::WorkRequest& request) {
  if (static_cast<std::size_t>(request.settlements_size()) > settlements_max) {
    return end(here_.refused({ErrorCode::too_large, std::to_string(request.settlements_size()) +
                                                        " settlements in a message: at most " +
                                                        std::to_string(settlements_max)}));
  }
  std::vector<GroupSettlement> settlements(static_cast<std::size_t>(request.settlements_size()));
  for (int i = 0; i < request.settlements_size(); ++i) {
    if (auto got = messages::get(*request.mutable_settlements(i), settlements[static_cast<std::size_t>(i)]); !got)
      return end(here_.refused(got.error()));
  }
  {
    const std::lock_guard lock(mutex_);
    ++batches_;
  }
  session_->settle(std::move(settlements),
                   [call = shared_from_this(), batch = request.batch()](const std::vector<Result<void>>& results) {
                     pb::WorkResponse response;
                     response.set_batch(batch);
                     for (const auto& result : results) {
                       auto& outcome = *response.add_outcomes();
                       if (!result)
                         messages::put_refusal(result.error(), {}, refusal_bytes_max, *outcome.mutable_refused());
                     }
                     auto bytes = bytes_of(response);
                     {
                       // At once: a call that ends between the two would end without the answer.
                       const std::lock_guard lock(call->mutex_);
                       --call->batches_;
                       call->enqueue(std::move(bytes));
                     }
                     call->go_on();
                   });
}

void GroupWorkCall::renew(const pb::WorkRequest& request) {
  if (static_cast<std::size_t>(request.renew_size()) > settlements_max) {
    return end(
        here_.refused({ErrorCode::too_large, std::to_string(request.renew_size()) + " renewals in a message: at most " +
                                                 std::to_string(settlements_max)}));
  }
  pb::WorkResponse response;
  for (const auto position : request.renew()) {
    const auto renewed = session_->renew({GlobalPosition(position)});
    if (renewed) continue;
    if (renewed.error().code != ErrorCode::fenced) return end(here_.refused(renewed.error()));
    response.add_lost(position);
  }
  if (response.lost_size() > 0) send(response);
}

void GroupWorkCall::pump() {
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || ending_ || !session_) return;
    pump_again_ = true;
    if (std::exchange(pumping_, true)) return;
  }
  calls_.served.pool.run([call = shared_from_this()] { call->take(); });
}

/// One message at a time, when the one before has gone: a client that takes none is not filled up with events that
/// others could have, nor does an event wait here while it is removed.
void GroupWorkCall::take() {
  while (true) {
    std::shared_ptr<GroupSession> session;
    {
      const std::lock_guard lock(mutex_);
      if (finished_ || ending_ || writing_ || !waiting_.empty() || !pump_again_) {
        pumping_ = false;
        return;
      }
      pump_again_ = false;
      session = session_;
    }
    if (parts()) {
      {
        const std::lock_guard lock(mutex_);
        pumping_ = false;
      }
      return go_on();
    }
    if (held_.empty()) take_from(*session);
    if (!held_.empty() && !give(*session)) {
      {
        const std::lock_guard lock(mutex_);
        pump_again_ = true;
      }
      return calls_.served.pool.run([call = shared_from_this()] { call->take(); });
    }
  }
}

void GroupWorkCall::take_from(GroupSession& session) {
  std::size_t bytes = 0;
  while (bytes < taken_bytes_max) {
    const auto read_at = calls_.served.rewritten();
    auto taken = session.take(1);
    if (!taken) {
      // It left meanwhile, and that is no refusal: what it settled is still to be answered.
      const std::lock_guard lock(mutex_);
      if (leaving_) return;
    }
    if (!taken && held_.empty()) {
      end(here_.refused(taken.error()));
      return go_on();
    }
    if (!taken || taken->empty()) return;
    auto& event = taken->front().event;
    bytes += event.payload.size() + event.metadata_bytes().size() + 256;
    held_.push_back({std::move(taken->front()), read_at});
  }
}

bool GroupWorkCall::give(GroupSession& session) {
  for (int looks = 0; !held_.empty();) {
    if (!is_as_read(held_.front())) {
      if (looks++ == looks_again_max) return false;
      if (!look_again(session, held_.front())) held_.pop_front();
      continue;
    }
    const auto end = std::ranges::find_if_not(held_, [this](const Held& held) { return is_as_read(held); });
    if (end == held_.begin()) continue;
    pb::WorkResponse response;
    std::for_each(held_.begin(), end,
                  [&](const Held& held) { messages::put(held.delivery, *response.add_deliveries()); });
    auto bytes = bytes_of(response);
    const std::lock_guard lock(mutex_);
    if (finished_ || ending_ || broken_) {
      held_.clear();
      return true;
    }
    pump_again_ = true;
    if (writing_ || !waiting_.empty()) return true;
    // The last look: behind it nothing holds it back any more.
    if (!std::all_of(held_.begin(), end, [this](const Held& held) { return is_as_read(held); })) continue;
    outgoing_ = std::move(bytes);
    writing_ = true;
    held_.erase(held_.begin(), end);
    StartWrite(&outgoing_);
    return true;
  }
  return true;
}

bool GroupWorkCall::look_again(GroupSession& session, Held& held) {
  const auto& served = calls_.served;
  const auto& event = held.delivery.event;
  const auto read_at = served.rewritten();
  auto now = served.look_again(event.position, event.aggregate, event.id);
  if (now && now->state != EventState::removed) {
    held.delivery.event = *std::move(now);
    held.read_at = read_at;
    return true;
  }
  if (now || now.error().code == ErrorCode::not_found)
    session.settle(
        {{.kind = GroupSettlement::Kind::acknowledge, .position = event.position, .delivery = held.delivery.delivery}},
        [](const std::vector<Result<void>>&) {});
  return false;
}

void GroupWorkCall::send(const pb::WorkResponse& response) {
  auto bytes = bytes_of(response);
  const std::lock_guard lock(mutex_);
  enqueue(std::move(bytes));
}

void GroupWorkCall::enqueue(grpc::ByteBuffer bytes) {
  if (!finished_ && !broken_) waiting_.push_back(std::move(bytes));
}

void GroupWorkCall::end(const grpc::Status& status) {
  const std::lock_guard lock(mutex_);
  if (!ending_) ending_ = status;
}

void GroupWorkCall::go_on() {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  if (broken_) waiting_.clear();
  if (!writing_ && !waiting_.empty()) {
    outgoing_ = std::move(waiting_.front());
    waiting_.pop_front();
    writing_ = true;
    StartWrite(&outgoing_);
  }
  if (!ending_ && session_ && !reading_ && !broken_ && batches_ < unanswered_max && waiting_.size() < unanswered_max) {
    reading_ = true;
    StartRead(&incoming_);
  }
  if (!ending_ || writing_ || !waiting_.empty()) return;
  if (ending_->ok() && batches_ != 0 && !broken_) return;  // what it settled is being made durable: it is told so first
  finished_ = true;
  const auto status = *ending_;
  lock.unlock();
  Finish(status);
}

void GroupWorkCall::OnWriteDone(bool ok) {
  const auto keep = shared_from_this();
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    broken_ = broken_ || !ok;
    if (broken_ && !ending_) ending_ = grpc::Status::CANCELLED;
    more = pump_again_ && waiting_.empty();
  }
  go_on();
  if (more) pump();
}

void GroupWorkCall::OnCancel() {
  const auto keep = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    if (!ending_) ending_ = grpc::Status::CANCELLED;
  }
  go_on();
}

void GroupWorkCall::OnDone() {
  const auto keep = std::exchange(self_, nullptr);
  here_.leaves();
  calls_.forget(this);
  std::shared_ptr<GroupSession> session;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    session = std::exchange(session_, nullptr);
  }
  if (session) session->lose();  // where it left before, there is nothing to lose
}

void GroupWorkCall::drain() {
  std::shared_ptr<GroupSession> session;
  {
    const std::lock_guard lock(mutex_);
    session = session_;
  }
  if (session) session->leave();  // that the server stops is not the events' fault
  end(here_.refused(calls_stopping()));
  go_on();
}

}  // namespace evershard::door
