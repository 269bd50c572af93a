// ReservedPort: an address that this process will listen at later, and that no connection takes meanwhile.

#pragma once

#include <cstdint>
#include <string>

#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// Whoever connects there is refused. This process may listen there while it is reserved; so may another one that
/// shares addresses (SO_REUSEADDR), as another coordinator does.
class ReservedPort {
 public:
  /// `port` 0: a free one. Errors: invalid_argument: no address of this machine; unavailable: it is in use
  [[nodiscard]] static Result<ReservedPort> open(const std::string& host, std::uint16_t port);
  ~ReservedPort();
  ReservedPort(ReservedPort&& from) noexcept : socket_(from.socket_), port_(from.port_) { from.socket_ = -1; }
  ReservedPort& operator=(ReservedPort&&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  ReservedPort(int socket, std::uint16_t port) : socket_(socket), port_(port) {}
  int socket_;
  std::uint16_t port_;
};

}  // namespace evershard::cluster
