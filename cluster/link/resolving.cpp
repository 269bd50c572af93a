#include "evershard/cluster/link/resolving.hpp"

#include <netdb.h>

#include <cstring>
#include <thread>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cluster {
namespace {

Result<std::vector<SocketAddress>> look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); failed != 0) {
    return refuse(ErrorCode::unavailable,
                  "the host " + in_quotes(host, 200) + " is not found: " + ::gai_strerror(failed));
  }
  std::vector<SocketAddress> addresses;
  for (auto* one = found; one != nullptr; one = one->ai_next) {
    auto& address = addresses.emplace_back();
    std::memcpy(&address.bytes, one->ai_addr, one->ai_addrlen);
    address.size = one->ai_addrlen;
  }
  ::freeaddrinfo(found);
  return addresses;
}

}  // namespace

Result<std::vector<SocketAddress>> numeric_addresses(const std::string& host, std::uint16_t port) {
  return look_up(host == "localhost" ? "127.0.0.1" : host, port, AI_NUMERICHOST);
}

Resolving::Resolving(const std::string& host, std::uint16_t port, const std::shared_ptr<WakeUp>& wake) {
  if (auto numbers = numeric_addresses(host, port)) {
    shared_->result = std::move(numbers);
    return;
  }
  std::thread([shared = shared_, wake, host, port] {
    auto found = look_up(host, port, 0);
    {
      const std::lock_guard lock(shared->mutex);
      shared->result = std::move(found);
    }
    wake->wake();
  }).detach();
}

std::optional<Result<std::vector<SocketAddress>>> Resolving::result() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->result;
}

}  // namespace evershard::cluster
