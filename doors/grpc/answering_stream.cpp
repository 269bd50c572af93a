#include "evershard/doors/grpc/answering_stream.hpp"

#include <utility>

namespace evershard::door {

AnsweringStream* AnsweringStream::begin(grpc::CallbackServerContext& context, serving::Scope scope,
                                        const std::function<grpc::Status(const Error&)>& told) {
  self_ = shared_from_this();
  if (auto admitted = here_.admit_stream(context, scope, 0); !admitted) {
    finished_ = true;
    Finish(told(admitted.error()));
  } else if (!calls_.remember(self_)) {
    finished_ = true;
    Finish(here_.refused(calls_stopping()));
  } else {
    reading_ = true;
    StartRead(&incoming_);
  }
  return this;
}

void AnsweringStream::OnReadDone(bool ok) {
  const auto keep = shared_from_this();
  if (ok) {
    {
      const std::lock_guard lock(mutex_);
      if (finished_) return;  // too late: the stream's end tells that it was not taken
      taking_ = true;
    }
    take();
  }
  {
    const std::lock_guard lock(mutex_);
    reading_ = taking_ = false;
    half_closed_ = half_closed_ || !ok;
  }
  go_on();
}

void AnsweringStream::go_on() {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  if (broken_) {
    // The client is gone: the answers are dropped.
    while (has_answer()) static_cast<void>(next_answer());
  } else if (!writing_ && has_answer()) {
    outgoing_ = next_answer();
    writing_ = true;
    grpc::WriteOptions options;
    // Another one follows at once. Never with the first: gRPC holds back the headers with it, and with them the word
    // that it is written.
    if (std::exchange(wrote_, true) && has_answer()) options.set_buffer_hint();
    StartWrite(&outgoing_, options);
  }
  if (!reading_ && !half_closed_ && !draining_ && has_room()) {
    reading_ = true;
    StartRead(&incoming_);
  }
  if (writing_ || taking_ || has_work()) return;
  if (half_closed_ && !reading_) {
    finished_ = true;
    const bool broken = broken_;
    lock.unlock();
    Finish(broken ? grpc::Status::CANCELLED : grpc::Status::OK);
  } else if (draining_) {
    finished_ = true;  // a read that is out comes back with the end of the call
    lock.unlock();
    Finish(status_of(calls_stopping()));
  }
}

void AnsweringStream::drain() {
  {
    const std::lock_guard lock(mutex_);
    draining_ = true;
  }
  go_on();
}

void AnsweringStream::OnWriteDone(bool ok) {
  const auto keep = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    broken_ = broken_ || !ok;
  }
  go_on();
}

void AnsweringStream::OnCancel() {
  const auto keep = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    half_closed_ = half_closed_ || !reading_;  // a read that is out comes back by itself
  }
  go_on();
}

}  // namespace evershard::door
