// RefusingServer: answers every call with one error; or says nothing at all, once it has taken the call.

#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "evershard/doors/wire/status.hpp"
#include "evershard/protocol/messages.hpp"

namespace evershard {

class RefusingServer {
 public:
  /// Absent: it says nothing.
  explicit RefusingServer(std::optional<Error> error) : service_(std::move(error)) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  ~RefusingServer() { server_->Shutdown(std::chrono::system_clock::now()); }
  RefusingServer(const RefusingServer&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  /// Calls, and appends of an AppendMany; without those that ask who serves the store.
  [[nodiscard]] int heard() const { return service_.heard; }

 private:
  struct Service;
  /// Each append of an AppendMany has its own refusal.
  class Appends final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Appends(Service& service) : service_(service) { StartRead(&in_); }
    void OnReadDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::OK);
      ++service_.heard;
      if (!service_.error) return StartRead(&in_);
      messages::pb::AppendOutcome outcome;
      messages::put(*service_.error, *outcome.mutable_refused());
      const grpc::Slice slice(outcome.SerializeAsString());
      out_ = grpc::ByteBuffer(&slice, 1);
      StartWrite(&out_);
    }
    void OnWriteDone(bool ok) override {
      if (ok)
        StartRead(&in_);
      else
        Finish(grpc::Status::OK);
    }
    void OnDone() override { delete this; }

   private:
    Service& service_;
    grpc::ByteBuffer in_, out_;
  };
  class Refused final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Refused(const std::optional<grpc::Status>& status) : over_(status.has_value()) {
      if (status) Finish(*status);
    }
    void OnCancel() override {
      if (!over_.exchange(true)) Finish(grpc::Status::CANCELLED);
    }
    void OnDone() override { delete this; }

   private:
    std::atomic<bool> over_;
  };
  struct Service final : grpc::CallbackGenericService {
    explicit Service(std::optional<Error> e) : error(std::move(e)) {}
    grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
      if (context->method().ends_with("/Members")) {
        return new Refused(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no"));
      }
      if (context->method().ends_with("/AppendMany")) return new Appends(*this);
      ++heard;
      return new Refused(error ? std::optional(wire::status_of(*error)) : std::nullopt);
    }
    const std::optional<Error> error;
    std::atomic<int> heard{0};
  };

  Service service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace evershard
