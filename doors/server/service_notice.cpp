#include "evershard/doors/server/service_notice.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace evershard::server {
namespace {

std::optional<std::uint64_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, number);
  return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace

ServiceNotice ServiceNotice::from_environment() {
  const char* socket = std::getenv("NOTIFY_SOCKET");
  const auto micros = number_in("WATCHDOG_USEC");
  const auto pid = number_in("WATCHDOG_PID");
  const bool ours = micros && *micros > 0 && (!pid || *pid == static_cast<std::uint64_t>(::getpid()));
  return {socket == nullptr ? "" : socket,
          ours ? std::optional(std::chrono::milliseconds(std::max<std::uint64_t>(*micros / 2'000, 1))) : std::nullopt};
}

void ServiceNotice::send(std::string_view state) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  [[maybe_unused]] const auto sent = ::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                                              reinterpret_cast<const sockaddr*>(&address), bytes);
  ::close(descriptor);
}

}  // namespace evershard::server
