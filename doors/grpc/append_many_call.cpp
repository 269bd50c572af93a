#include "evershard/doors/grpc/append_many_call.hpp"

#include <utility>

#include "evershard/doors/grpc/append_call.hpp"
#include "evershard/protocol/codec.hpp"

namespace evershard::door {
namespace {

constexpr std::size_t conflict_bytes_max = 1u << 20;

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* AppendManyCall::start(
    Calls& calls, serving::MethodMetrics& counted, grpc::CallbackServerContext* context) {
  auto call = std::make_shared<AppendManyCall>(calls, counted);
  call->self_ = call;
  auto* reactor = call.get();
  if (auto admitted = call->here_.admit_stream(*context, serving::Scope::append, 0); !admitted) {
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

void AppendManyCall::OnReadDone(bool ok) {
  const auto keep = shared_from_this();
  if (ok) {
    auto slot = std::make_shared<Slot>();
    grpc::Slice slice;
    const auto content = content_of(incoming_, calls_.message_bytes_max, slice);
    slot->bytes = content ? content->size() : incoming_.Length();
    {
      const std::lock_guard lock(mutex_);
      if (finished_) return;  // too late: the stream's end tells that it was not taken
      slots_.push_back(slot);
      bytes_ += slot->bytes;
    }
    take(slot, content);
  }
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    half_closed_ = half_closed_ || !ok;
  }
  go_on();
}

void AppendManyCall::take(const std::shared_ptr<Slot>& slot, const Result<std::string_view>& content) {
  if (auto over = here_.over_limit(slot->bytes)) return refuse_slot(slot, over->error, {}, over->retry_after);
  if (!content) return refuse_slot(slot, content.error());
  auto append = codec::decode_append(*content, slot->conflicts_max);
  if (!append) return refuse_slot(slot, append.error());
  slot->events = append->events.size();
  if (slot->conflicts_max > 0) slot->conditions = append->conditions;
  calls_.append(*std::move(append), [call = shared_from_this(), slot](const Result<Appended>& result) {
    call->answered(slot, result);
    call->go_on();
  });
}

void AppendManyCall::answered(const std::shared_ptr<Slot>& slot, const Result<Appended>& result) {
  if (result) {
    pb::AppendOutcome outcome;
    put_appended(calls_, *result, slot->came, slot->events, *outcome.mutable_appended());
    return put_outcome(slot, outcome);
  }
  if (result.error().code != ErrorCode::condition_failed || slot->conditions.empty())
    return refuse_slot(slot, result.error());
  calls_.served.pool.run([call = shared_from_this(), slot, error = result.error()] {
    call->refuse_slot(slot, error,
                      conflicts_of(call->calls_.served.store, error, slot->conditions, slot->conflicts_max));
    call->go_on();
  });
}

void AppendManyCall::refuse_slot(const std::shared_ptr<Slot>& slot, const Error& error,
                                 const std::vector<RecordedEvent>& conflicts, std::chrono::milliseconds retry_after) {
  pb::AppendOutcome outcome;
  messages::put_refusal(error, conflicts, conflict_bytes_max, *outcome.mutable_refused(), retry_after);
  put_outcome(slot, outcome);
}

void AppendManyCall::put_outcome(const std::shared_ptr<Slot>& slot, const pb::AppendOutcome& outcome) {
  auto bytes = bytes_of(outcome);
  const std::lock_guard lock(mutex_);
  slot->outcome = std::move(bytes);
}

/// Whatever can be begun, in one place: an answer, the next read, the end.
void AppendManyCall::go_on() {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  if (broken_) {
    while (!slots_.empty() && slots_.front()->outcome) slots_.pop_front();
  } else if (!writing_ && !slots_.empty() && slots_.front()->outcome) {
    outgoing_ = std::move(*slots_.front()->outcome);
    bytes_ -= slots_.front()->bytes;
    slots_.pop_front();
    writing_ = true;
    grpc::WriteOptions options;
    // Another one follows at once. Never with the first: gRPC holds back the headers with it, and with them the word
    // that it is written.
    if (std::exchange(wrote_, true) && !slots_.empty() && slots_.front()->outcome) options.set_buffer_hint();
    StartWrite(&outgoing_, options);
  }
  if (!reading_ && !half_closed_ && !draining_ && slots_.size() < calls_.append_many_appends_max &&
      bytes_ < calls_.append_many_bytes_max) {
    reading_ = true;
    StartRead(&incoming_);
  }
  if (writing_ || !slots_.empty()) return;
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

void AppendManyCall::drain() {
  {
    const std::lock_guard lock(mutex_);
    draining_ = true;
  }
  go_on();
}

void AppendManyCall::OnWriteDone(bool ok) {
  const auto keep = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    broken_ = broken_ || !ok;
  }
  go_on();
}

void AppendManyCall::OnCancel() {
  const auto keep = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    half_closed_ = half_closed_ || !reading_;  // a read that is out comes back by itself
  }
  go_on();
}

}  // namespace evershard::door
