// GatheredCall: a call whose client sends messages and then waits for one answer to all of them.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/compat/kurrent/kurrent.hpp"

namespace evershard::kurrent {

/// How a message of a GatheredCall is read, unless there is another of its own.
template <class Message>
[[nodiscard]] Result<void> read_message(const door::Calls& calls, const grpc::ByteBuffer& bytes, Message& message) {
  return door::parse(calls, bytes, message);
}

/// Shape: `work`: void(std::vector<Request>&, std::shared_ptr<GatheredCall>), which answers or refuses once.
template <class Request, class Response>
class GatheredCall final : public grpc::ServerReadReactor<grpc::ByteBuffer>,
                           public std::enable_shared_from_this<GatheredCall<Request, Response>> {
 public:
  using Work = std::function<void(std::vector<Request>&, std::shared_ptr<GatheredCall>)>;

  static grpc::ServerReadReactor<grpc::ByteBuffer>* start(const std::shared_ptr<Kurrent>& kurrent,
                                                          serving::MethodMetrics& counted,
                                                          grpc::CallbackServerContext* context, grpc::ByteBuffer* out,
                                                          Work work) {
    auto call = std::make_shared<GatheredCall>(kurrent, counted, context, out, std::move(work));
    call->self_ = call;
    auto* reactor = call.get();
    if (auto admitted = call->here_.admit_stream(*context, serving::Scope::append, 0); !admitted)
      call->refused(std::move(admitted).error());
    else
      call->StartRead(&call->incoming_);
    return reactor;
  }
  GatheredCall(std::shared_ptr<Kurrent> kurrent, serving::MethodMetrics& counted, grpc::CallbackServerContext* context,
               grpc::ByteBuffer* out, Work work)
      : kurrent_(std::move(kurrent)),
        here_(kurrent_->calls, counted),
        context_(context),
        out_(*out),
        work_(std::move(work)) {}

  void answer(const Response& response) {
    out_ = door::bytes_of(response);
    this->Finish(grpc::Status::OK);
  }
  void refused(const Refusal& refusal) {
    this->Finish(status_of(here_, *context_, refusal, kurrent_->options.limits.append_bytes_max));
  }
  void refused(Error error) {
    Refusal refusal;
    refusal.error = std::move(error);
    refused(refusal);
  }
  void finish(const grpc::Status& status) { this->Finish(status); }
  [[nodiscard]] door::UnderWay& here() { return here_; }
  [[nodiscard]] Kurrent& kurrent() { return *kurrent_; }
  [[nodiscard]] grpc::CallbackServerContext& context() { return *context_; }

  void OnReadDone(bool ok) override {
    const auto keep = this->shared_from_this();
    // An answer that comes after its time is none: its client has gone on.
    if (context_->deadline() <= std::chrono::system_clock::now())
      return this->Finish({grpc::StatusCode::DEADLINE_EXCEEDED, "the call came after its deadline"});
    if (!ok) {
      if (!context_->IsCancelled()) return work_(requests_, this->shared_from_this());
      return this->Finish(grpc::Status::CANCELLED);
    }
    bytes_ += incoming_.Length() + bytes_of_message;  // empty ones, too, come to an end
    if (bytes_ > kurrent_->calls.message_bytes_max)
      return refused(Error{ErrorCode::too_large, "the messages of the call have more than " +
                                                     std::to_string(kurrent_->calls.message_bytes_max) + " bytes"});
    if (auto parsed = read_message(kurrent_->calls, incoming_, requests_.emplace_back()); !parsed)
      return refused(std::move(parsed).error());
    this->StartRead(&incoming_);
  }
  void OnDone() override {
    here_.leaves();
    self_.reset();
  }

 private:
  static constexpr std::size_t bytes_of_message = 512;  ///< the memory that an empty message takes

  const std::shared_ptr<Kurrent> kurrent_;
  door::UnderWay here_;
  grpc::CallbackServerContext* const context_;  ///< until the call was finished
  grpc::ByteBuffer& out_;
  const Work work_;
  std::shared_ptr<GatheredCall> self_;  ///< until OnDone
  grpc::ByteBuffer incoming_;
  std::vector<Request> requests_;
  std::size_t bytes_ = 0;
};

}  // namespace evershard::kurrent
