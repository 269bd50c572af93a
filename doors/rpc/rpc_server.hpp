// RpcServer: calls over sockets: some threads, each with connections of its own.

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "evershard/doors/http2/session_bounds.hpp"
#include "evershard/doors/rpc/method.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::rpc {

struct RpcServerOptions {
  std::vector<std::string> listen{};  ///< HOST:PORT, port 0: any free one; or unix:PATH
  std::size_t threads = 2;
  http2::SessionBounds bounds{};
  std::size_t message_bytes_max = 20u << 20;
  /// Calls that are worked at for one connection, also those that its client has given up.
  std::size_t calls_max = 1'000;
  std::size_t output_bytes = 128u << 10;  ///< of a connection, taken from its calls and not taken by its client
  std::chrono::milliseconds first_request_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds keepalive = std::chrono::seconds(30);  ///< a silent client is asked whether it is there
};

class RpcServer {
 public:
  /// Errors: invalid_argument (an address that is none), unavailable (an address that is in use, or not ours)
  [[nodiscard]] static Result<std::unique_ptr<RpcServer>> start(Methods methods, RpcServerOptions options);
  /// stop(0)
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;

  /// Where it listens, in the order asked for, with the ports that were taken.
  [[nodiscard]] const std::vector<std::string>& addresses() const;
  [[nodiscard]] std::size_t connections() const;

  /// Takes no connections and no calls any more, waits for calls as long as `drain`, then cancels them and waits for
  /// their reactors. Any number of times.
  void stop(std::chrono::milliseconds drain);

 private:
  struct Impl;
  explicit RpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard::rpc
