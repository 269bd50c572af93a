#include "evershard/doors/grpc/ask_call.hpp"

#include <mutex>

#include "evershard/api/messages/messages.hpp"
#include "evershard/doors/serving/hosted_commands.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/v1/asks.pb.h"

namespace evershard::door {
namespace {

/// JSON of no more is read by the thread that took the call.
constexpr std::size_t json_read_at_once_bytes = 16u << 10;

/// A caller who may go before it is known what to cancel, and behind the end of the call.
struct Caller {
  std::mutex mutex{};
  bool gone = false;
  Asking asking{};

  void asked(Asking what) {
    {
      const std::lock_guard lock(mutex);
      asking = what;
      if (!gone) return;
    }
    what.cancel();
  }
  void goes() {
    Asking what;
    {
      const std::lock_guard lock(mutex);
      gone = true;
      what = asking;
    }
    what.cancel();
  }
};

std::string as_text(const std::string& rejection) {
  return is_utf8(rejection) ? rejection : in_quotes(rejection, rejection.size());
}

class AskCall final : public grpc::ServerUnaryReactor {
 public:
  AskCall(Calls& calls, serving::MethodMetrics& counted, grpc::ByteBuffer* out)
      : here_(calls, counted), calls_(calls), out_(*out) {}

  void begin(grpc::CallbackServerContext& context, const grpc::ByteBuffer& in) {
    if (auto admitted = here_.admit(context, serving::Scope::append, in.Length()); !admitted)
      return refused(admitted.error());
    pb::AskRequest request;
    if (auto parsed = parse(calls_, in, request); !parsed) return refused(parsed.error());
    if (calls_.served.commands == nullptr) return refused(serving::nothing_hosted());
    options_.command_id = std::move(*request.mutable_command_id());
    if (request.timeout_ms() != 0) options_.timeout = std::chrono::milliseconds(request.timeout_ms());
    json_ = request.has_json();
    serving::CommandAsked asked{messages::aggregate_of(request.aggregate()), std::move(*request.mutable_command()),
                                std::move(json_ ? *request.mutable_json() : *request.mutable_bytes()), json_};
    if (!json_ || asked.payload.size() <= json_read_at_once_bytes) return ask(std::move(asked));
    calls_.served.pool.run([this, asked = std::move(asked)]() mutable { ask(std::move(asked)); });
  }
  void OnCancel() override { caller_->goes(); }
  void OnDone() override { delete this; }

 private:
  ~AskCall() override = default;

  void refused(const Error& error) { Finish(here_.refused(error)); }

  void ask(serving::CommandAsked asked) {
    auto ready = calls_.served.commands->ready(std::move(asked));
    if (!ready) return refused(ready.error());
    const auto caller = caller_;
    const auto reply = ready->reply;
    // Told in a thread of the aggregates', which have better things to do than to send answers.
    caller->asked(calls_.served.commands->ask(*std::move(ready), options_, [this, reply](AnyAnswer answer) {
      calls_.answers.run([this, reply, answer = std::move(answer)] { tell(reply, answer); });
    }));
  }
  void tell(const serving::ReplyWritten& reply, const AnyAnswer& answer) {
    if (answer.kind == AnswerKind::failed) return refused(answer.error);
    pb::AskResponse response;
    if (answer.kind == AnswerKind::rejected) {
      response.mutable_rejected()->set_reason(as_text(answer.rejection));
      response.mutable_rejected()->set_version(answer.version.value);
    } else {
      auto& replied = *response.mutable_replied();
      if (json_) replied.set_json(reply.json_of(answer.reply).value_or(""));
      replied.set_reply(answer.reply);
      replied.set_duplicate(answer.duplicate);
      replied.set_version(answer.version.value);
      replied.set_position(answer.position.value);
    }
    out_ = bytes_of(response);
    Finish(grpc::Status::OK);
  }

  UnderWay here_;  // destroyed last: after that the door may be gone
  Calls& calls_;
  grpc::ByteBuffer& out_;
  AskOptions options_;
  bool json_ = false;
  const std::shared_ptr<Caller> caller_ = std::make_shared<Caller>();
};

}  // namespace

grpc::ServerUnaryReactor* answer_ask(Calls& calls, serving::MethodMetrics& counted,
                                     grpc::CallbackServerContext* context, const grpc::ByteBuffer* in,
                                     grpc::ByteBuffer* out) {
  auto* call = new AskCall(calls, counted, out);
  call->begin(*context, *in);
  return call;
}

}  // namespace evershard::door
