// LosingServer: hears every call, and its answers are lost on the way.

#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <string>

namespace evershard {

class LosingServer {
 public:
  LosingServer() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  ~LosingServer() { server_->Shutdown(); }

  [[nodiscard]] const std::string& address() const { return address_; }
  /// Since it was asked last.
  [[nodiscard]] int heard() { return service_.heard.exchange(0); }

 private:
  class Lost final : public grpc::ServerGenericBidiReactor {
   public:
    Lost() { Finish({grpc::StatusCode::UNAVAILABLE, "Socket closed"}); }
    void OnDone() override { delete this; }
  };
  class Service final : public grpc::CallbackGenericService {
   public:
    grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
      ++heard;
      return new Lost();
    }
    std::atomic<int> heard{0};
  };
  Service service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace evershard
