#include "tests/process/relay.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <utility>

namespace evershard::testing {
namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in on_loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  return at;
}

bool wait_for(int socket, short what, int ms) {
  pollfd look{socket, what, 0};
  return ::poll(&look, 1, ms) > 0;
}

/// One way of a connection.
struct Way {
  int from, to;
  std::deque<std::pair<Clock::time_point, std::string>> held{};
  bool over = false;
};

constexpr int look_every_ms = 5;
constexpr std::size_t held_parts_max = 4'096;

}  // namespace

Relay::Relay(std::string to) : to_(std::move(to)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  auto at = on_loopback(0);
  socklen_t bytes = sizeof at;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&at), bytes) != 0 || ::listen(listener_, 64) != 0) std::abort();
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &bytes);
  address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  accepting_ = std::thread([this] { accept(); });
}

Relay::~Relay() {
  ending_ = true;
  accepting_.join();
  for (auto& thread : carrying_) thread.join();
  ::close(listener_);
}

void Relay::leads_to(std::string to) {
  const std::lock_guard lock(mutex_);
  to_ = std::move(to);
}

void Relay::accept() {
  while (!ending_) {
    if (blocked_ || !wait_for(listener_, POLLIN, look_every_ms)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client >= 0) carrying_.emplace_back([this, client] { carry(client); });
  }
}

void Relay::carry(int client) {
  std::string to;
  {
    const std::lock_guard lock(mutex_);
    to = to_;
  }
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto at =
      on_loopback(to.empty() ? std::uint16_t{0} : static_cast<std::uint16_t>(std::stoi(to.substr(to.rfind(':') + 1))));
  const bool connected = !to.empty() && ::connect(server, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  const int on = 1;
  for (const int socket : {client, server}) ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const auto cuts = cuts_.load();
  std::array<Way, 2> ways{Way{client, server}, Way{server, client}};
  std::array<char, 64 << 10> part{};
  while (connected && !ending_ && cuts_ == cuts && !(ways[0].over || ways[1].over)) {
    pollfd look[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    ::poll(look, 2, look_every_ms);
    if (blocked_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (std::size_t i = 0; i != ways.size(); ++i) {
      Way& way = ways[i];
      if (look[i].revents != 0 && way.held.size() < held_parts_max && !blocked_) {
        const auto got = ::recv(way.from, part.data(), part.size(), MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) way.over = true;
        if (got > 0)
          way.held.emplace_back(Clock::now() + std::chrono::milliseconds(delay_ms_.load()),
                                std::string(part.data(), static_cast<std::size_t>(got)));
      }
      while (!blocked_ && !way.held.empty() && way.held.front().first <= Clock::now()) {
        auto& bytes = way.held.front().second;
        const auto sent = ::send(way.to, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) way.over = true;
        if (sent <= 0) break;
        bytes.erase(0, static_cast<std::size_t>(sent));
        if (bytes.empty()) way.held.pop_front();
      }
    }
  }
  ::close(server);
  ::close(client);
}

}  // namespace evershard::testing
