// ConnectionCount: how many connections a gRPC server has open, from gRPC's own books (channelz): it tells nobody when
// one comes or goes.

#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace evershard::door {

class ConnectionCount {
 public:
  /// Starts a server and remembers which one it is. Doors of one process are started one after the other.
  [[nodiscard]] static std::unique_ptr<grpc::Server> start(grpc::ServerBuilder& builder, ConnectionCount& count);
  /// Connections that are through with TLS, of all its addresses. Cost: a few microseconds each. Any thread.
  [[nodiscard]] std::int64_t read() const;
  /// The peers of those, as a call's context names them. Cost: a millisecond for a thousand. Any thread.
  [[nodiscard]] std::vector<std::string> peers() const;

 private:
  template <class See>
  void each_page(See see) const;

  std::int64_t server_ = 0;
};

}  // namespace evershard::door
