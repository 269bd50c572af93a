// Resolving: a host's addresses, asked for without waiting.

#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "evershard/cluster/link/wake_up.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

/// Numbers are there at once. Names are asked for in a thread of their own, which may take as long as the resolver
/// does: nobody waits for it, also when the link ends first.
class Resolving {
 public:
  Resolving(const std::string& host, std::uint16_t port, const std::shared_ptr<WakeUp>& wake);

  /// Returns: nothing: not yet. Errors: unavailable: no such host
  [[nodiscard]] std::optional<Result<std::vector<SocketAddress>>> result() const;

 private:
  struct Shared {
    std::mutex mutex;
    std::optional<Result<std::vector<SocketAddress>>> result;
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

/// Of a host that is written as numbers, `localhost` or empty. Errors: unavailable
[[nodiscard]] Result<std::vector<SocketAddress>> numeric_addresses(const std::string& host, std::uint16_t port);

}  // namespace evershard::cluster
