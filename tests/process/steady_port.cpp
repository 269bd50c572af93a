#include "tests/process/steady_port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

#include "evershard/protocol/check.hpp"

namespace evershard::testing {
namespace {

constexpr std::uint32_t first = 12'000, count = 18'000;  // connections get theirs from 32768 on

bool is_free(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return bound;
}

}  // namespace

std::uint16_t steady_port() {
  static std::atomic<std::uint32_t> next{static_cast<std::uint32_t>(::getpid()) * 101};
  for (std::uint32_t tried = 0; tried != count; ++tried) {
    const auto port = static_cast<std::uint16_t>(first + next++ % count);
    if (is_free(port)) return port;
  }
  EVERSHARD_CHECK(false, "there is a port to be had");
}

}  // namespace evershard::testing
