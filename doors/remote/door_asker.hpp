// DoorAsker: calls of an interface, asked of a server.

#pragma once

#include <memory>
#include <utility>

#include "evershard/api/calls/call.hpp"
#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

class DoorAsker final : public calls::Asker {
 public:
  explicit DoorAsker(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  std::optional<GlobalPosition> at_least(std::optional<GlobalPosition> asked) const override {
    return connection_->at_least(asked);
  }
  void see(GlobalPosition position) override { connection_->see(position); }

 private:
  /// A request that has an at_least waits for what this client has seen, unless it is asked for another position.
  Result<void> carry(const calls::Call& call, google::protobuf::Message& request, google::protobuf::Message& response,
                     const calls::WaitsFor& awaited) override;

  const std::shared_ptr<Connection> connection_;
};

}  // namespace evershard::remote
