#include "evershard/compat/kurrent/streams_v2_service.hpp"

#include <utility>

#include "evershard/compat/kurrent/gathered_call.hpp"
#include "evershard/compat/kurrent/records.hpp"

namespace evershard::kurrent {
namespace {

using SessionCall = GatheredCall<esv2::AppendRequest, esv2::AppendSessionResponse>;

void append_session(std::vector<esv2::AppendRequest>& requests, std::shared_ptr<SessionCall> call) {
  auto write = session_write(requests);
  if (!write) return call->refused(std::move(write).error());
  if (auto refused = too_large_status(*write, call->kurrent().options.limits)) return call->finish(*refused);
  auto streams = std::make_shared<StreamWrite>();
  streams->streams = write->streams;
  const auto events = write->events.size();
  call->kurrent().writes.write(*std::move(write), [call, streams, events](const WriteOutcome& outcome) {
    if (const auto* refused = std::get_if<Refusal>(&outcome))
      return call->finish(records_status(call->here(), call->context(), *refused));
    const auto& written = std::get<StreamsWritten>(outcome);
    esv2::AppendSessionResponse response;
    for (std::size_t i = 0; i < streams->streams.size(); ++i) {
      auto& output = *response.add_output();
      output.set_stream(streams->streams[i].name);
      output.set_stream_revision(static_cast<std::int64_t>(written.versions[i].value) - 1);
      output.set_position(static_cast<std::int64_t>(written.position.value));
    }
    response.set_position(static_cast<std::int64_t>(written.position.value));
    auto& calls = call->kurrent().calls;
    calls.served.metrics->appended(calls.speaks, std::chrono::steady_clock::now() - call->here().began, events);
    call->answer(response);
  });
}

}  // namespace

StreamsV2Service::StreamsV2Service(std::shared_ptr<Kurrent> kurrent)
    : ServiceOf(kurrent->calls), kurrent_(std::move(kurrent)) {
  gathers("AppendSession", [this](Counted& counted, Context* context, Bytes* out) {
    return SessionCall::start(kurrent_, counted, context, out, append_session);
  });
  unary("AppendRecords", [this](Counted& counted, Context* context, const Bytes* in, Bytes* out) {
    auto* reactor = context->DefaultReactor();
    auto here = std::make_shared<door::UnderWay>(calls_, counted);
    esv2::AppendRecordsRequest request;
    auto records = [&]() -> Result<RecordsWrite> {
      const auto caller = here->admit(*context, Scope::append, in->Length());
      if (!caller) return refuse(caller.error());
      EVERSHARD_TRY(door::parse(calls_, *in, request));
      return records_write(request);
    }();
    if (!records) {
      Refusal refusal;
      refusal.error = std::move(records).error();
      reactor->Finish(status_of(*here, *context, refusal, 0));
      return reactor;
    }
    if (auto refused = too_large_status(records->write, kurrent_->options.limits)) {
      reactor->Finish(*refused);
      return reactor;
    }
    auto asked = std::make_shared<RecordsWrite>();
    asked->write.streams = records->write.streams;
    asked->checks = std::move(records->checks);
    const auto events = records->write.events.size();
    kurrent_->writes.write(
        std::move(records->write), [this, reactor, context, out, here, asked, events](const WriteOutcome& outcome) {
          if (const auto* refused = std::get_if<Refusal>(&outcome)) {
            if (refused->why != Refusal::Why::wrong_version)
              return reactor->Finish(records_status(*here, *context, *refused));
            return calls_.served.pool.run([this, reactor, here, asked, refusal = *refused] {
              // This counts it; the status that is answered is made beside it.
              static_cast<void>(here->refused(refusal.error));
              const auto seen = kurrent_->writes.seen_now(asked->write.streams);
              reactor->Finish(violations_status(*asked, seen.value_or(std::vector<SeqNr>()), refusal));
            });
          }
          const auto& written = std::get<StreamsWritten>(outcome);
          esv2::AppendRecordsResponse response;
          for (std::size_t i = 0; i < asked->write.streams.size(); ++i) {
            if (!asked->write.streams[i].written) continue;
            auto& revision = *response.add_revisions();
            revision.set_stream(asked->write.streams[i].name);
            revision.set_revision(static_cast<std::int64_t>(written.versions[i].value) - 1);
          }
          response.set_position(static_cast<std::int64_t>(written.position.value));
          calls_.served.metrics->appended(calls_.speaks, std::chrono::steady_clock::now() - here->began, events);
          *out = door::bytes_of(response);
          reactor->Finish(grpc::Status::OK);
        });
    return reactor;
  });
}

}  // namespace evershard::kurrent
