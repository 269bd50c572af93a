#include "evershard/doors/grpc/subscribe_call.hpp"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <limits>

#include "evershard/doors/serving/beyond_head.hpp"

namespace evershard::door {
namespace {

constexpr std::uint32_t heartbeat_ms_min = 100;

pb::SubscribeResponse::Kind kind_of(FeedItem::Kind kind) {
  switch (kind) {
    case FeedItem::Kind::events:
      return pb::SubscribeResponse::KIND_EVENTS;
    case FeedItem::Kind::caught_up:
      return pb::SubscribeResponse::KIND_CAUGHT_UP;
    case FeedItem::Kind::fell_behind:
      return pb::SubscribeResponse::KIND_FELL_BEHIND;
    case FeedItem::Kind::idle:
      return pb::SubscribeResponse::KIND_HEARTBEAT;
  }
  return pb::SubscribeResponse::KIND_UNSPECIFIED;
}

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* SubscribeCall::begin_call(std::shared_ptr<SubscribeCall> call,
                                                                      grpc::CallbackServerContext* context,
                                                                      const grpc::ByteBuffer& in) {
  call->self_ = call;
  call->reader_.emplace(call->calls_, context);
  auto* reactor = call.get();
  compress_if_asked(*context);
  const auto begun = call->begin(context, in);
  if (!begun)
    call->finish(call->here_.refused(begun.error()));
  else if (!*begun)
    call->finish(grpc::Status::OK);
  else
    call->begin_answer();
  return reactor;
}

Result<bool> SubscribeCall::begin(grpc::CallbackServerContext* context, const grpc::ByteBuffer& in) {
  EVERSHARD_TRY(here_.admit_stream(*context, serving::Scope::read, in.Length()));
  pb::SubscribeRequest request;
  EVERSHARD_TRY(parse(calls_, in, request));
  if (!request.has_query())
    return refuse(ErrorCode::invalid_argument, "query: is missing; { all: true } is everything");
  EVERSHARD_TRY(messages::get(*request.mutable_query(), query_));
  EVERSHARD_TRY(query_.check());
  FollowOptions options;
  if (request.has_page_events_max()) options.page_events_max = request.page_events_max();
  if (options.page_events_max == 0) return refuse(ErrorCode::invalid_argument, "page_events_max: 0 events are no page");
  if (request.has_heartbeat_ms() && request.heartbeat_ms() != 0 && request.heartbeat_ms() < heartbeat_ms_min) {
    return refuse(ErrorCode::invalid_argument,
                  "heartbeat_ms: the least is " + std::to_string(heartbeat_ms_min) + "; 0 is none");
  }
  if (request.has_heartbeat_ms())
    heartbeat_ = request.heartbeat_ms() == 0 ? without_heartbeat : std::chrono::milliseconds(request.heartbeat_ms());
  if (request.has_after()) {
    options.after = GlobalPosition(request.after());
  } else {
    auto head = calls_.served.store.head();
    if (!head) return refuse(std::move(head).error());
    options.after = *head;
  }
  at_ = options.after;
  const auto& fork = calls_.served.fork;
  if (!request.fork_id().empty() && !fork.empty() && request.fork_id() != fork) {
    other_fork_ = other_fork(request.fork_id(), fork, at_);
    return true;
  }
  EVERSHARD_TRY(check_after(at_, !request.fork_id().empty()));
  feed_.emplace(calls_.served.store.follow(query_, options));
  return true;
}

Result<void> SubscribeCall::check_after(GlobalPosition after, bool of_this_fork) {
  auto beyond = serving::beyond_head(calls_.served, after);
  if (!beyond) return refuse(std::move(beyond).error());
  if (!*beyond) return {};
  if (calls_.served.cluster == nullptr) return refuse(**std::move(beyond));
  waits_for_head_ = !of_this_fork;
  return {};
}

void SubscribeCall::begin_answer() {
  if (answers_at_once_) StartSendInitialMetadata();
  if (never_) return wait(GlobalPosition(std::numeric_limits<std::uint64_t>::max()));
  if (waits_for_head_) return wait_for_head();
  if (!other_fork_) return run_read();
  pb::SubscribeResponse names;
  name_history(names);
  send(bytes_of(names));
}

void SubscribeCall::name_history(pb::SubscribeResponse& response) {
  if (!std::exchange(fork_named_, true)) response.set_fork_id(calls_.served.fork);
  auto led = calls_.served.led();
  if (led == nullptr || led == led_named_) return;
  if (led_named_ == nullptr || *led != *led_named_) response.set_led(*led);
  led_named_ = std::move(led);
}

void SubscribeCall::run_read() {
  calls_.run_with_room(work_, [call = shared_from_this()] { call->read(); });
}

/// In the pool.
void SubscribeCall::read() {
  if (cancelled()) return finish(grpc::Status::CANCELLED);
  const storage::ReadWork::Scope at_work(*work_);
  auto item = feed_->next(std::chrono::milliseconds(0));
  if (!item) return finish(here_.refused(item.error()));
  if (item->kind == FeedItem::Kind::idle) return wait(item->watermark);
  if (!item->events.empty()) calls_.served.metrics->events_read(calls_.speaks, item->events.size());
  auto message = message_of(*item, told_up_to(item->watermark));
  if (!message) return run_read();
  send(*std::move(message));
}

std::optional<grpc::ByteBuffer> SubscribeCall::message_of(const FeedItem& item, GlobalPosition at) {
  google::protobuf::Arena arena;
  auto* response = google::protobuf::Arena::CreateMessage<pb::SubscribeResponse>(&arena);
  response->set_kind(kind_of(item.kind));
  for (const auto& event : item.events) messages::put(event, *response->add_events());
  response->set_watermark(at.value);
  name_history(*response);
  return bytes_of(*response);
}

GlobalPosition SubscribeCall::told_up_to(GlobalPosition watermark) {
  const std::lock_guard lock(mutex_);
  at_ = std::max(at_, watermark);
  return at_;
}

void SubscribeCall::send(grpc::ByteBuffer bytes) {
  const std::lock_guard lock(mutex_);
  state_ = State::sending;
  outgoing_ = std::move(bytes);
  reader_->sends(outgoing_.Length());
  StartWrite(&outgoing_, write_options(outgoing_.Length()));
}

void SubscribeCall::wait(GlobalPosition from) {
  wait_by([&] {
    return calls_.served.watch.when_matching(
        from, query_, serving::HeadWatch::Clock::now() + heartbeat_,
        [call = shared_from_this()](serving::HeadWatch::Why why, GlobalPosition looked_at) {
          call->woken(why, looked_at);
        });
  });
}

void SubscribeCall::wait_for_head() {
  wait_by([&] {
    return calls_.served.watch.when_reached(
        at_, serving::HeadWatch::Clock::now() + serving::may_be_behind,
        [call = shared_from_this()](const Result<GlobalPosition>& reached) { call->head_reached(reached); });
  });
}

void SubscribeCall::head_reached(const Result<GlobalPosition>& reached) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::waiting) return;
    state_ = State::reading;
  }
  if (reached) return run_read();
  auto beyond = serving::beyond_head(calls_.served, at_);
  if (reached.error().code != ErrorCode::timeout || !beyond) return finish(here_.refused(reached.error()));
  if (*beyond) return finish(here_.refused(**std::move(beyond)));
  run_read();
}

void SubscribeCall::wait_by(const std::function<serving::HeadWatch::Ticket()>& begin) {
  bool cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    cancelled = cancelled_;
    if (!cancelled) state_ = State::waiting;  // from here on OnCancel finishes
  }
  if (cancelled) return finish(grpc::Status::CANCELLED);
  const auto ticket = begin();
  bool gone = false;
  {
    const std::lock_guard lock(mutex_);
    ticket_ = std::max(ticket_, ticket);  // woken already, it may wait anew by now
    gone = state_ == State::finished;
  }
  if (gone) calls_.served.watch.cancel(ticket);
}

void SubscribeCall::woken(serving::HeadWatch::Why why, GlobalPosition looked_at) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::waiting) return;
    state_ = State::reading;
  }
  switch (why) {
    case serving::HeadWatch::Why::something:
      return run_read();
    case serving::HeadWatch::Why::closing:
      return finish(here_.refused(calls_stopping()));
    case serving::HeadWatch::Why::deadline: {
      pb::SubscribeResponse heartbeat;
      heartbeat.set_kind(pb::SubscribeResponse::KIND_HEARTBEAT);
      heartbeat.set_watermark(told_up_to(looked_at).value);
      name_history(heartbeat);
      return send(bytes_of(heartbeat));
    }
  }
}

void SubscribeCall::finish(const grpc::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    state_ = State::finished;
  }
  Finish(status);
}

bool SubscribeCall::cancelled() {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

void SubscribeCall::OnWriteDone(bool ok) {
  {
    const std::lock_guard lock(mutex_);
    reader_->took();
    cancelled_ = cancelled_ || !ok;
    state_ = State::reading;
  }
  if (other_fork_) return finish(here_.refused(*other_fork_));
  run_read();
}

void SubscribeCall::OnCancel() {
  const auto keep = shared_from_this();
  work_->cancel();
  serving::HeadWatch::Ticket ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (feed_) feed_->cancel();
    if (state_ != State::waiting) return;  // whoever is at work finishes
    state_ = State::finished;
    ticket = ticket_;
  }
  calls_.served.watch.cancel(ticket);
  Finish(grpc::Status::CANCELLED);
}

}  // namespace evershard::door
