#include "evershard/cluster/link/reserved_port.hpp"

#include <unistd.h>

#include <utility>

#include "evershard/cluster/link/greeter.hpp"

namespace evershard::cluster {

Result<ReservedPort> ReservedPort::open(const std::string& host, std::uint16_t port) {
  auto bound = bound_socket(host, port);
  if (!bound) return refuse(std::move(bound).error());
  return ReservedPort(bound->first.release(), bound->second);
}

ReservedPort::~ReservedPort() {
  if (socket_ >= 0) ::close(socket_);
}

}  // namespace evershard::cluster
