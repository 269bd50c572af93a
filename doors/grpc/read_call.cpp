#include "evershard/doors/grpc/read_call.hpp"

#include <utility>

#include "evershard/api/page_forms.hpp"

namespace evershard::door {

grpc::ServerWriteReactor<grpc::ByteBuffer>* ReadCall::begin_call(std::shared_ptr<ReadCall> call,
                                                                 grpc::CallbackServerContext* context,
                                                                 const grpc::ByteBuffer& in) {
  auto& calls = call->calls_;
  call->self_ = call;
  call->reader_.emplace(calls, context);
  auto* reactor = call.get();
  compress_if_asked(*context);
  if (auto begun = call->begin(context, in); !begun) {
    call->finished_ = true;
    call->Finish(call->here_.refused(begun.error()));
    return reactor;
  }
  if (call->answer_at_hand()) return reactor;
  call->reading_ = true;  // until the watermark is there, it is as good as a read under way
  call->ticket_ = calls.at_least(call->request_.has_at_least() ? &call->request_.at_least() : nullptr,
                                 [call](const Result<void>& there) {
                                   if (!there) return call->end(there.error());
                                   call->calls_.run_with_room(call->work_, [call] { call->read_page(); });
                                 });
  return reactor;
}

bool ReadCall::answer_at_hand() {
  if (!small_ || request_.has_at_least() || !calls_.has_room_ahead()) return false;
  auto stream = open_();
  auto made = at_hand(stream);
  if (made) calls_.served.metrics->events_read(calls_.speaks, made->events);
  const bool answered = made.has_value();
  {
    const std::lock_guard lock(mutex_);
    stream_.emplace(std::move(stream));
    if (made) take(*std::move(made));
  }
  if (answered) go_on();
  return answered;
}

std::optional<ReadCall::Made> ReadCall::at_hand(EventStream& stream) {
  auto page = encoded_page(stream, {.at_hand_max = at_hand_events_max});
  // An error of the stream is told to who waits for its page.
  if (!page || page->says_nothing()) return std::nullopt;
  return Made{std::move(page->bytes), page->events, page->complete};
}

Result<ReadCall::Made> ReadCall::next(EventStream& stream) {
  auto page = encoded_page(stream);
  if (!page) return refuse(page.error());
  Made made{{}, page->events, page->complete};
  if (!page->says_nothing()) made.bytes = std::move(page->bytes);
  return made;
}

void ReadCall::take(Made made) {
  if (made.complete) ending_ = grpc::Status::OK;
  if (!made.bytes) return;
  const auto slice = slice_of(*std::move(made.bytes));
  next_ = grpc::ByteBuffer(&slice, 1);
}

Result<void> ReadCall::begin(grpc::CallbackServerContext* context, const grpc::ByteBuffer& in) {
  EVERSHARD_TRY(here_.admit_stream(*context, serving::Scope::read, in.Length()));
  EVERSHARD_TRY(parse(calls_, in, request_));
  if (request_.has_query() == request_.has_aggregate()) {
    return refuse(ErrorCode::invalid_argument, "a read is of a query or of an aggregate: exactly one of both is given");
  }
  if (request_.has_query()) {
    if (request_.has_stream())
      return refuse(ErrorCode::invalid_argument, "stream: goes with an aggregate, options go with a query");
    Query query;
    if (auto read = messages::get(*request_.mutable_query(), query); !read) return read;
    ReadOptions options;
    EVERSHARD_TRY(messages::get(*request_.mutable_options(), options));
    EVERSHARD_TRY(query.check());
    if (options.at_least && !request_.has_at_least())
      request_.mutable_at_least()->set_position(options.at_least->value);
    options.at_least.reset();  // the watch waits, not a thread of the pool
    small_ = options.limit && *options.limit <= at_hand_events_max;
    open_ = [&store = calls_.served.store, query = std::move(query), options] { return store.read(query, options); };
    return {};
  }
  if (request_.has_options())
    return refuse(ErrorCode::invalid_argument, "options: go with a query, stream goes with an aggregate");
  AggregateId aggregate;
  aggregate.type = request_.aggregate().type();
  aggregate.value = request_.aggregate().value();
  StreamOptions options;
  EVERSHARD_TRY(messages::get(*request_.mutable_stream(), options));
  small_ = !options.limit || *options.limit <= at_hand_events_max;
  open_ = [&store = calls_.served.store, aggregate = std::move(aggregate), options] {
    return store.read(aggregate, options);
  };
  return {};
}

/// In the pool. Nobody else is in it: reading_ is true.
void ReadCall::read_page() {
  const storage::ReadWork::Scope at_work(*work_);
  if (!stream_) {  // as of now, behind the wait for a watermark
    auto stream = open_();
    const std::lock_guard lock(mutex_);
    stream_.emplace(std::move(stream));
    if (cancelled_) stream_->cancel();
  }
  auto made = next(*stream_);
  if (!made) return end(made.error());
  calls_.served.metrics->events_read(calls_.speaks, made->events);
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    take(*std::move(made));
  }
  go_on();
}

void ReadCall::end(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    ending_ = here_.refused(error);
  }
  go_on();
}

void ReadCall::go_on() {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  if (cancelled_) {
    if (reading_ || writing_) return;
    finished_ = true;
    lock.unlock();
    return Finish(grpc::Status::CANCELLED);
  }
  if (!writing_ && next_) {
    outgoing_ = *std::exchange(next_, std::nullopt);
    writing_ = true;
    reader_->sends(outgoing_.Length());
    if (ending_ && ending_->ok()) {  // in one go: most reads have one page
      finished_ = true;
      lock.unlock();
      return StartWriteAndFinish(&outgoing_, write_options(outgoing_.Length()), grpc::Status::OK);
    }
    StartWrite(&outgoing_, write_options(outgoing_.Length()));
  }
  if (!reading_ && !next_ && !ending_ && (!writing_ || calls_.has_room_ahead())) {
    reading_ = true;
    lock.unlock();
    return calls_.run_with_room(work_, [call = shared_from_this()] { call->read_page(); });
  }
  if (ending_ && !writing_ && !next_) {
    finished_ = true;
    const auto status = *ending_;
    lock.unlock();
    Finish(status);
  }
}

void ReadCall::OnWriteDone(bool ok) {
  const auto keep = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    reader_->took();
    cancelled_ = cancelled_ || !ok;
  }
  go_on();
}

void ReadCall::OnCancel() {
  const auto keep = shared_from_this();
  work_->cancel();
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (stream_) stream_->cancel();
  }
  if (calls_.served.watch.cancel(ticket_)) return end({ErrorCode::cancelled, "the call was cancelled"});
  go_on();
}

}  // namespace evershard::door
