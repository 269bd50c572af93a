#include "evershard/compat/kurrent/streams_service.hpp"

#include <utility>

#include "evershard/compat/kurrent/batch_append_call.hpp"
#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/compat/kurrent/expected_of.hpp"
#include "evershard/compat/kurrent/gathered_call.hpp"
#include "evershard/compat/kurrent/proposed_events.hpp"
#include "evershard/compat/kurrent/read_call.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"

namespace evershard::kurrent {
namespace {

/// A message of an append: an event, or what the generated code makes of it.
struct AppendPart {
  esp::AppendReq request{};
  std::vector<Event> event{};
};

[[nodiscard]] Result<void> read_message(const door::Calls& calls, const grpc::ByteBuffer& bytes, AppendPart& part) {
  grpc::Slice slice;
  const auto content = door::content_of(bytes, calls.message_bytes_max, slice);
  std::string rest;
  if (content && split_proposed(*content, proposed_in_append, rest, part.event) && rest.empty() &&
      part.event.size() == 1)
    return {};
  part.event.clear();
  return door::parse(calls, bytes, part.request);
}

using AppendCall = GatheredCall<AppendPart, esp::AppendResp>;

template <class Options>
Result<StreamExpected> stream_in(const Options& options) {
  StreamExpected stream;
  stream.name = options.stream_identifier().stream_name();
  auto aggregate = aggregate_of(stream.name);
  if (!aggregate) return refuse(std::move(aggregate).error());
  EVERSHARD_TRY(check_writable(stream.name, *aggregate));
  stream.aggregate = *std::move(aggregate);
  stream.expected = expected_of(options);
  return stream;
}

/// A conflict is an answer here, and no status.
void put_conflict(const Refusal& refusal, esp::AppendResp::WrongExpectedVersion& to) {
  if (refusal.actual.value == 0)
    to.mutable_current_no_stream();
  else
    to.set_current_revision(refusal.actual.value - 1);
  switch (refusal.expected.kind()) {
    case ExpectedVersion::Kind::any:
      to.mutable_expected_any();
      break;
    case ExpectedVersion::Kind::none:
      to.mutable_expected_no_stream();
      break;
    case ExpectedVersion::Kind::exists:
      to.mutable_expected_stream_exists();
      break;
    case ExpectedVersion::Kind::exactly:
      to.set_expected_revision(refusal.expected.number().value - 1);
      break;
  }
}

void put_success(const StreamsWritten& written, esp::AppendResp::Success& to) {
  if (written.versions.front().value == 0)
    to.mutable_no_stream();
  else
    to.set_current_revision(written.versions.front().value - 1);
  if (written.position.value == 0) {
    to.mutable_no_position();
    return;
  }
  to.mutable_position()->set_commit_position(written.position.value);
  to.mutable_position()->set_prepare_position(written.position.value);
}

Result<Event> event_of_part(AppendPart& part, const AggregateId& aggregate) {
  if (!part.event.empty()) {
    EVERSHARD_TRY(accept_proposed(part.event.front(), aggregate));
    return std::move(part.event.front());
  }
  if (!part.request.has_proposed_message())
    return refuse(ErrorCode::invalid_argument, "an append has its options twice");
  return event_of(*part.request.mutable_proposed_message(), aggregate);
}

void append_gathered(std::vector<AppendPart>& parts, std::shared_ptr<AppendCall> call) {
  if (parts.empty() || !parts.front().request.has_options())
    return call->refused(Error{ErrorCode::invalid_argument, "an append begins with its options"});
  auto stream = stream_in(parts.front().request.options());
  if (!stream) return call->refused(std::move(stream).error());
  StreamWrite write;
  write.events.reserve(parts.size() - 1);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    auto event = event_of_part(parts[i], stream->aggregate);
    if (!event) return call->refused(std::move(event).error());
    write.events.push_back(*std::move(event));
  }
  write.streams.push_back(*std::move(stream));
  const auto events = write.events.size();
  call->kurrent().writes.write(std::move(write), [call, events](const WriteOutcome& outcome) {
    esp::AppendResp response;
    if (const auto* refused = std::get_if<Refusal>(&outcome)) {
      if (refused->why != Refusal::Why::wrong_version) return call->refused(*refused);
      put_conflict(*refused, *response.mutable_wrong_expected_version());
    } else {
      put_success(std::get<StreamsWritten>(outcome), *response.mutable_success());
      auto& calls = call->kurrent().calls;
      calls.served.metrics->appended(calls.speaks, std::chrono::steady_clock::now() - call->here().began, events);
    }
    call->answer(response);
  });
}

}  // namespace

/// A stream is deleted, or ended for good: one request, one answer, decided in a thread of the store.
template <class Request, class Response>
void StreamsService::ends(door::CallName name, bool for_good) {
  unary(name, [this, for_good](Counted& counted, Context* context, const Bytes* in, Bytes* out) {
    auto* reactor = context->DefaultReactor();
    auto here = std::make_shared<door::UnderWay>(calls_, counted);
    const auto refused = [context, reactor, here, kurrent = kurrent_](const Refusal& refusal) {
      reactor->Finish(status_of(*here, *context, refusal, kurrent->options.limits.append_bytes_max));
    };
    Request request;
    auto stream = [&]() -> Result<StreamExpected> {
      const auto caller = here->admit(*context, Scope::append, in->Length());
      if (!caller) return refuse(caller.error());
      EVERSHARD_TRY(door::parse(calls_, *in, request));
      return stream_in(request.options());
    }();
    if (!stream) {
      Refusal refusal;
      refusal.error = std::move(stream).error();
      refused(refusal);
      return reactor;
    }
    auto done = [reactor, out, refused](const WriteOutcome& outcome) {
      if (const auto* refusal = std::get_if<Refusal>(&outcome)) return refused(*refusal);
      const auto position = std::get<StreamsWritten>(outcome).position.value;
      Response response;
      if (position == 0) {
        response.mutable_no_position();
      } else {
        response.mutable_position()->set_commit_position(position);
        response.mutable_position()->set_prepare_position(position);
      }
      *out = door::bytes_of(response);
      reactor->Finish(grpc::Status::OK);
    };
    if (for_good)
      kurrent_->writes.end(*std::move(stream), std::move(done));
    else
      kurrent_->writes.remove(*std::move(stream), std::move(done));
    return reactor;
  });
}

StreamsService::StreamsService(std::shared_ptr<Kurrent> kurrent)
    : ServiceOf(kurrent->calls), kurrent_(std::move(kurrent)) {
  pages("Read", [this](Counted& counted, Context* context, const Bytes* in) {
    return StreamReadCall::start(kurrent_, counted, context, in);
  });
  gathers("Append", [this](Counted& counted, Context* context, Bytes* out) {
    return AppendCall::start(kurrent_, counted, context, out, append_gathered);
  });
  both_ways("BatchAppend",
            [this](Counted& counted, Context* context) { return BatchAppendCall::start(kurrent_, counted, context); });
  ends<esp::DeleteReq, esp::DeleteResp>("Delete", false);
  ends<esp::TombstoneReq, esp::TombstoneResp>("Tombstone", true);
}

}  // namespace evershard::kurrent
