#include "evershard/compat/kurrent/read_call.hpp"

#include <algorithm>
#include <utility>

namespace evershard::kurrent {
namespace {

constexpr auto looks_again_after = std::chrono::hours(24);  ///< a wait has an end, this one has no meaning

}  // namespace

StreamReadCall::StreamReadCall(std::shared_ptr<Kurrent> kurrent, serving::MethodMetrics& counted,
                               grpc::CallbackServerContext* context)
    : kurrent_(std::move(kurrent)),
      here_(kurrent_->calls, counted),
      context_(context),
      work_(kurrent_->calls.served.long_reads->begin()) {}

StreamReadCall::~StreamReadCall() {
  if (counts_) kurrent_->calls.served.metrics->streams(kurrent_->calls.speaks, -1);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* StreamReadCall::start(const std::shared_ptr<Kurrent>& kurrent,
                                                                  serving::MethodMetrics& counted,
                                                                  grpc::CallbackServerContext* context,
                                                                  const grpc::ByteBuffer* in) {
  auto call = std::make_shared<StreamReadCall>(kurrent, counted, context);
  call->self_ = call;
  call->reader_.emplace(kurrent->calls, context);
  auto* reactor = call.get();
  if (auto begun = call->begin(*in); !begun) {
    Refusal refusal;
    refusal.error = std::move(begun).error();
    call->finish(status_of(call->here_, *context, refusal, 0));
  } else {
    call->run_step();
  }
  return reactor;
}

Result<void> StreamReadCall::begin(const grpc::ByteBuffer& in) {
  EVERSHARD_TRY(here_.admit_stream(*context_, serving::Scope::read, in.Length()));
  esp::ReadReq request;
  EVERSHARD_TRY(door::parse(kurrent_->calls, in, request));
  auto plan = ReadPlan::of(request);
  if (!plan) return refuse(std::move(plan).error());
  counts_ = plan->subscription;
  if (counts_) kurrent_->calls.served.metrics->streams(kurrent_->calls.speaks, 1);
  reading_ = Reading::make(*kurrent_, *std::move(plan));
  return {};
}

void StreamReadCall::run_step() {
  kurrent_->calls.run_with_room(work_, [call = shared_from_this()] { call->step(); });
}

/// In the pool.
void StreamReadCall::step() {
  if (cancelled()) return finish(grpc::Status::CANCELLED);
  const storage::ReadWork::Scope at_work(*work_);
  EventMessages messages;
  auto stepped = reading_->step(messages);
  if (reading_->events() != 0) kurrent_->calls.served.metrics->events_read(kurrent_->calls.speaks, reading_->events());
  if (auto* refused = std::get_if<Refusal>(&stepped)) {
    ending_ = status_of(here_, *context_, *refused, 0);
  } else {
    after_ = std::get<Reading::Step>(stepped);
    if (after_.kind == Reading::Step::Kind::done) ending_ = grpc::Status::OK;
  }
  send(std::move(messages));
}

void StreamReadCall::send(EventMessages messages) {
  std::unique_lock lock(mutex_);
  const auto bytes = messages.bytes();
  auto piece = messages.take();
  auto* const begin = piece.bytes.release();
  ready_ = grpc::Slice(
      begin, bytes, [](void* at) { std::unique_ptr<char[]>(static_cast<char*>(at)).reset(); }, begin);
  ends_ = std::move(piece.ends);
  sent_ = 0;
  if (has_ready()) reader_->sends(bytes);
  send_next(lock);
}

void StreamReadCall::send_next(std::unique_lock<std::mutex>& lock) {
  if (cancelled_) {
    lock.unlock();
    return finish(grpc::Status::CANCELLED);
  }
  if (has_ready()) {
    const auto message = ready_.sub(sent_ == 0 ? 0 : ends_[sent_ - 1], ends_[sent_]);
    outgoing_ = grpc::ByteBuffer(&message, 1);
    ++sent_;
    state_ = State::sending;
    grpc::WriteOptions options;
    // Never with the first: gRPC holds back the headers with it, and with them the word that it is written.
    if (std::exchange(wrote_, true) && has_ready()) options.set_buffer_hint();
    return StartWrite(&outgoing_, options);
  }
  state_ = State::reading;
  lock.unlock();
  if (ending_) return finish(*ending_);
  if (after_.kind == Reading::Step::Kind::idle) return wait();
  run_step();
}

void StreamReadCall::wait() {
  bool cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    cancelled = cancelled_;
    if (!cancelled) state_ = State::waiting;  // from here on OnCancel finishes
  }
  if (cancelled) return finish(grpc::Status::CANCELLED);
  const auto ticket = kurrent_->calls.served.watch.when_matching(
      after_.seen, reading_->interest(), serving::HeadWatch::Clock::now() + looks_again_after,
      [call = shared_from_this()](serving::HeadWatch::Why why, GlobalPosition) { call->woken(why); });
  bool gone = false;
  {
    const std::lock_guard lock(mutex_);
    ticket_ = std::max(ticket_, ticket);  // woken already, it may wait anew by now
    gone = state_ == State::finished;
  }
  if (gone) kurrent_->calls.served.watch.cancel(ticket);
}

void StreamReadCall::woken(serving::HeadWatch::Why why) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::waiting) return;
    state_ = State::reading;
  }
  if (why == serving::HeadWatch::Why::closing) return finish(here_.refused(door::calls_stopping()));
  run_step();
}

void StreamReadCall::finish(const grpc::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    state_ = State::finished;
  }
  Finish(status);
}

bool StreamReadCall::cancelled() {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

void StreamReadCall::OnWriteDone(bool ok) {
  const auto keep = shared_from_this();
  std::unique_lock lock(mutex_);
  if (!has_ready()) {
    reader_->took();
    ready_ = grpc::Slice();
  }
  cancelled_ = cancelled_ || !ok;
  send_next(lock);
}

void StreamReadCall::OnCancel() {
  const auto keep = shared_from_this();
  work_->cancel();
  serving::HeadWatch::Ticket ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (reading_) reading_->cancel();
    if (state_ != State::waiting) return;  // whoever is at work finishes
    state_ = State::finished;
    ticket = ticket_;
  }
  kurrent_->calls.served.watch.cancel(ticket);
  Finish(grpc::Status::CANCELLED);
}

}  // namespace evershard::kurrent
