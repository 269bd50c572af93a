#include "evershard/compat/kurrent/batch_append_call.hpp"

#include <google/protobuf/stubs/logging.h>

#include <utility>

#include "evershard/compat/kurrent/expected_of.hpp"
#include "evershard/compat/kurrent/proposed_events.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"

namespace evershard::kurrent {
namespace {

constexpr std::size_t open_bytes_most = 64u << 20;
constexpr std::size_t bytes_of_batch = 512;  ///< of memory, where there is nothing in it
constexpr std::int64_t clock_wrong_us = 5'000'000;

ExpectedVersion expected_of_batch(const esp::BatchAppendReq::Options& options) {
  if (options.has_stream_position()) return at_revision(options.stream_position());
  if (options.has_no_stream()) return ExpectedVersion::none();
  if (options.has_stream_exists()) return ExpectedVersion::exists();
  return ExpectedVersion::any();
}

void repeat_expected(const esp::BatchAppendReq::Options& options, esp::BatchAppendResp& to) {
  if (options.has_stream_position()) to.set_stream_position(options.stream_position());
  if (options.has_no_stream()) to.mutable_no_stream();
  if (options.has_any()) to.mutable_any();
  if (options.has_stream_exists()) to.mutable_stream_exists();
}

Refusal refused_batch(Error error) {
  Refusal refusal;
  refusal.error = std::move(error);
  return refusal;
}

}  // namespace

bool is_late(const esp::BatchAppendReq::Options& options, std::chrono::microseconds since_it_came, Timestamp now) {
  if (options.has_deadline()) {
    const auto allowed =
        std::chrono::seconds(options.deadline().seconds()) + std::chrono::nanoseconds(options.deadline().nanos());
    return since_it_came >= allowed;
  }
  if (!options.has_deadline_21_10_0()) return false;
  const auto& until = options.deadline_21_10_0();
  if (until.seconds() <= 0 || until.seconds() > Timestamp::last().micros / 1'000'000) return false;
  const auto late_us = now.micros - (until.seconds() * 1'000'000 + until.nanos() / 1'000);
  return late_us >= 0 && late_us - since_it_came.count() < clock_wrong_us;
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* BatchAppendCall::start(
    const std::shared_ptr<Kurrent>& kurrent, serving::MethodMetrics& counted, grpc::CallbackServerContext* context) {
  const auto call = std::make_shared<BatchAppendCall>(kurrent, counted);
  return call->begin(*context, serving::Scope::append,
                     [&](const Error& error) { return status_of(call->here_, *context, refused_batch(error), 0); });
}

void BatchAppendCall::take() {
  const auto bytes = incoming_.Length();
  esp::BatchAppendReq request;
  std::vector<Event> events;
  const auto parsed = read(request, events);
  const auto key = request.correlation_id().SerializeAsString();
  auto& open = open_[key];
  if (!open) {
    open = std::make_shared<Batch>();
    open->correlation = request.correlation_id();
    open->bytes = bytes_of_batch + key.size();
    open_bytes_ += open->bytes;
  }
  const auto batch = open;
  if (batch->answered) {  // refused before: what still comes of it is nothing
    if (!request.is_final()) return;
    open_bytes_ -= batch->bytes;
    open_.erase(key);
    return;
  }
  const auto held =
      bytes + (static_cast<std::size_t>(request.proposed_messages_size()) + events.size()) * sizeof(Event);
  batch->wire_bytes += bytes;
  batch->bytes += held;
  open_bytes_ += held;
  if (!parsed) {
    batch->refused = refused_batch(parsed.error());
  } else if (auto over = here_.over_limit(bytes)) {
    batch->refused = refused_batch(over->error);
  } else if (batch->wire_bytes > kurrent_->calls.message_bytes_max) {
    batch->refused =
        refused_batch({ErrorCode::too_large, "the append has " + std::to_string(batch->wire_bytes) + " bytes"});
  } else if (open_bytes_ > open_bytes_most) {
    batch->refused = refused_batch({ErrorCode::overloaded, "appends that were begun and not finished hold " +
                                                               std::to_string(open_bytes_) + " bytes"});
  }
  if (!batch->refused) add(*batch, request, events);
  if (!request.is_final() && !batch->refused) return;
  const auto waited =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - batch->came);
  if (is_late(batch->options, waited, Timestamp::now()))  // whatever else is wrong with it: its client has gone on
    batch->refused = refused_batch({ErrorCode::timeout, "the append came after its deadline: nothing was written"});
  open_.erase(key);
  open_bytes_ -= batch->bytes;
  if (parsed && !request.is_final()) {  // the rest of it may be on its way
    auto& rest = open_[key] = std::make_shared<Batch>();
    rest->answered = true;
    rest->bytes = bytes_of_batch + key.size();
    open_bytes_ += rest->bytes;
  }
  {
    const std::lock_guard lock(mutex_);
    bytes_ += batch->bytes;
    ++under_way_;
  }
  write(batch);
}

Result<void> BatchAppendCall::read(esp::BatchAppendReq& request, std::vector<Event>& events) {
  const google::protobuf::LogSilencer silence;  // what is refused needs no line on standard error
  grpc::Slice slice;
  const auto content = door::content_of(incoming_, kurrent_->calls.message_bytes_max, slice);
  std::string rest;
  if (content && split_proposed(*content, proposed_in_batch, rest, events) && request.ParseFromString(rest)) return {};
  events.clear();
  return door::parse(kurrent_->calls, incoming_, request);
}

void BatchAppendCall::add(Batch& batch, esp::BatchAppendReq& request, std::vector<Event>& events) {
  if (request.has_options()) {
    batch.options = std::move(*request.mutable_options());
    batch.stream.name = batch.options.stream_identifier().stream_name();
    auto aggregate = aggregate_of(batch.stream.name);
    if (aggregate) {
      if (auto writable = check_writable(batch.stream.name, *aggregate); !writable)
        batch.refused = refused_batch(std::move(writable).error());
      batch.stream.aggregate = *std::move(aggregate);
    } else {
      batch.refused = refused_batch(std::move(aggregate).error());
    }
    batch.stream.expected = expected_of_batch(batch.options);
  }
  if (batch.stream.name.empty() && !batch.refused)
    batch.refused = refused_batch({ErrorCode::invalid_argument, "an append begins without its options"});
  for (auto& event : events) {
    if (batch.refused) return;
    if (auto accepted = accept_proposed(event, batch.stream.aggregate); !accepted)
      batch.refused = refused_batch(std::move(accepted).error());
    else
      batch.events.push_back(std::move(event));
  }
  for (auto& proposed : *request.mutable_proposed_messages()) {
    if (batch.refused) return;
    auto event = event_of(proposed, batch.stream.aggregate);
    if (event)
      batch.events.push_back(*std::move(event));
    else
      batch.refused = refused_batch(std::move(event).error());
  }
}

void BatchAppendCall::write(const BatchPtr& batch) {
  if (batch->refused) return answer(batch, *batch->refused);
  StreamWrite write;
  write.streams.push_back(batch->stream);
  write.events = std::move(batch->events);
  const auto events = write.events.size();
  kurrent_->writes.write(std::move(write), [call = shared(), batch, events](const WriteOutcome& outcome) {
    if (std::holds_alternative<StreamsWritten>(outcome))
      call->kurrent_->calls.served.metrics->appended(call->kurrent_->calls.speaks,
                                                     std::chrono::steady_clock::now() - batch->came, events);
    call->answer(batch, outcome);
    call->go_on();
  });
}

void BatchAppendCall::answer(const BatchPtr& batch, const WriteOutcome& outcome) {
  esp::BatchAppendResp response;
  *response.mutable_correlation_id() = batch->correlation;
  response.mutable_stream_identifier()->set_stream_name(batch->stream.name);
  repeat_expected(batch->options, response);
  if (const auto* refused = std::get_if<Refusal>(&outcome)) {
    put_error(*refused, kurrent_->options.limits.append_bytes_max, *response.mutable_error());
  } else {
    const auto& written = std::get<StreamsWritten>(outcome);
    auto& success = *response.mutable_success();
    if (written.versions.front().value == 0)
      success.mutable_no_stream();
    else
      success.set_current_revision(written.versions.front().value - 1);
    if (written.position.value == 0) {
      success.mutable_no_position();
    } else {
      success.mutable_position()->set_commit_position(written.position.value);
      success.mutable_position()->set_prepare_position(written.position.value);
    }
  }
  auto bytes = door::bytes_of(response);
  const std::lock_guard lock(mutex_);
  ready_.push_back(std::move(bytes));
  --under_way_;
  bytes_ -= batch->bytes;
}

grpc::ByteBuffer BatchAppendCall::next_answer() {
  auto next = std::move(ready_.front());
  ready_.pop_front();
  return next;
}

}  // namespace evershard::kurrent
