// BreakingServer: does with each try what a list says: stores it, breaks off, says nothing, or refuses.

#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/api/messages/refusal.hpp"
#include "evershard/doors/remote/remote.hpp"
#include "evershard/doors/wire/status.hpp"
#include "evershard/v1/asks.pb.h"
#include "evershard/v1/scheduled.pb.h"
#include "evershard/v1/service.pb.h"

namespace evershard {

/// The steps are those of tests/clients/outcomes.json; the last one stays.
class BreakingServer {
 public:
  /// An AppendMany is refused append by append, or ends as a whole.
  enum class Appends : std::uint8_t { each, whole };

  explicit BreakingServer(int message_bytes_max = -1) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterCallbackGenericService(&service_);
    builder.SetMaxReceiveMessageSize(message_bytes_max);
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  ~BreakingServer() { server_->Shutdown(std::chrono::system_clock::now()); }
  BreakingServer(const BreakingServer&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  /// The token of the client whose tries these are.
  [[nodiscard]] std::string add(std::vector<std::string> tries, Appends appends) {
    const std::lock_guard lock(service_.mutex);
    auto token = "case-" + std::to_string(service_.cases.size());
    service_.cases["Bearer " + token] = std::make_unique<Case>(Case{appends, std::move(tries), 0});
    return token;
  }

 private:
  struct Case {
    const Appends appends;
    const std::vector<std::string> tries;
    std::size_t at = 0;
  };
  struct Service final : grpc::CallbackGenericService {
    grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
      const auto token = context->client_metadata().find("authorization");
      const std::lock_guard lock(mutex);
      return new Call(*this, *cases.at({token->second.data(), token->second.size()}), context->method());
    }
    std::string next(Case& of) {
      const std::lock_guard lock(mutex);
      return of.tries.size() - 1 > of.at ? of.tries[of.at++] : of.tries.back();
    }

    std::mutex mutex;
    std::map<std::string, std::unique_ptr<Case>> cases;
  };

  static Error refusal_of(const std::string& step) {
    ErrorDetails details;
    details.lasting = step == "closed";
    return {step == "closed" ? ErrorCode::unavailable : error_code_of(step).value(), "no", std::move(details)};
  }
  static std::string stored(const std::string& method) {
    if (method.ends_with("/AppendMany")) {
      messages::pb::AppendOutcome outcome;
      outcome.mutable_appended()->set_first_position(1);
      outcome.mutable_appended()->set_last_position(1);
      return outcome.SerializeAsString();
    }
    if (method.ends_with("/Ask")) {
      v1::AskResponse answered;
      answered.mutable_replied()->set_version(1);
      return answered.SerializeAsString();
    }
    if (method.ends_with("/PutSnapshot")) return {};
    v1::ScheduledAppend scheduled;
    scheduled.set_id("s");
    scheduled.set_state(v1::SCHEDULED_STATE_PENDING);
    return scheduled.SerializeAsString();
  }

  class Call final : public grpc::ServerGenericBidiReactor {
   public:
    Call(Service& service, Case& of, std::string method) : service_(service), case_(of), method_(std::move(method)) {
      StartRead(&in_);
    }
    void OnReadDone(bool ok) override {
      if (!ok) return end(grpc::Status::OK);
      if (method_.ends_with("/Head")) return answer(v1::HeadResponse().SerializeAsString());  // no write: no try
      const auto step = service_.next(case_);
      const bool many = method_.ends_with("/AppendMany");
      if (step == "stored") return answer(stored(method_));
      if (step == "silence") return;
      if (step == "breaks") return end({grpc::StatusCode::UNAVAILABLE, "Socket closed"});
      if (step == "foreign") return end({grpc::StatusCode::UNIMPLEMENTED, "no"});
      if (!many || case_.appends == Appends::whole) return end(wire::status_of(refusal_of(step), {}, retry_after));
      messages::pb::AppendOutcome outcome;
      messages::put_refusal(refusal_of(step), {}, 1u << 16, *outcome.mutable_refused(), retry_after);
      answer(outcome.SerializeAsString());
    }
    void OnWriteDone(bool ok) override {
      if (!ok || !method_.ends_with("/AppendMany")) return end(grpc::Status::OK);
      StartRead(&in_);
    }
    void OnCancel() override { end(grpc::Status::CANCELLED); }
    void OnDone() override { delete this; }

   private:
    void answer(const std::string& bytes) {
      const grpc::Slice slice(bytes);
      out_ = grpc::ByteBuffer(&slice, 1);
      StartWrite(&out_);
    }
    void end(const grpc::Status& status) {
      if (!over_.exchange(true)) Finish(status);
    }

    /// So that the last try within a short time has time enough for its answer.
    static constexpr std::chrono::milliseconds retry_after{2'000};

    Service& service_;
    Case& case_;
    const std::string method_;
    std::atomic<bool> over_{false};
    grpc::ByteBuffer in_, out_;
  };

  Service service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace evershard
