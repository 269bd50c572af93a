// CountingRelay: stands between a client and a server and counts what goes through.

#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace evershard {

class CountingRelay {
 public:
  /// `address`: 127.0.0.1:PORT
  explicit CountingRelay(const std::string& address)
      : to_(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)))), listener_(open()) {
    auto at = loopback(0);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::listen(listener_, 10), 0);
    socklen_t bytes = sizeof at;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &bytes);
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    accepting_ = std::thread([this] { accept(); });
  }
  ~CountingRelay() {
    ending_ = true;
    accepting_.join();
    for (auto& thread : carrying_) thread.join();
    ::close(listener_);
  }
  CountingRelay(const CountingRelay&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] std::uint64_t to_server() const { return bytes_[0]; }
  [[nodiscard]] std::uint64_t to_client() const { return bytes_[1]; }

 private:
  static int open() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    return at;
  }
  static bool readable(int fd) {
    pollfd waiting{fd, POLLIN, 0};
    return ::poll(&waiting, 1, 10) > 0;
  }
  void accept() {
    while (!ending_) {
      if (!readable(listener_)) continue;
      const int client = ::accept(listener_, nullptr, nullptr), server = open();
      auto at = loopback(to_);
      EXPECT_EQ(::connect(server, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
      const int yes = 1;
      for (const int fd : {client, server}) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      carrying_.emplace_back([this, client, server] { carry(client, server); });
    }
  }
  void carry(int client, int server) {
    const std::array<int, 2> ends{client, server};
    std::string part(64u << 10, '\0');
    while (!ending_) {
      std::array<pollfd, 2> waiting{pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
      if (::poll(waiting.data(), 2, 10) <= 0) continue;
      bool over = false;
      for (std::size_t i = 0; i < 2 && !over; ++i) {
        if (waiting[i].revents == 0) continue;
        const auto got = ::recv(ends[i], part.data(), part.size(), 0);
        over = got <= 0;
        if (!over) bytes_[i] += static_cast<std::uint64_t>(got);  // before it arrives
        for (ssize_t sent = 0; !over && sent < got;) {
          const auto n = ::send(ends[1 - i], part.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
          over = n <= 0;
          sent += n;
        }
      }
      if (over) break;
    }
    ::close(client);
    ::close(server);
  }

  const std::uint16_t to_;
  const int listener_;
  std::string address_;
  std::atomic<bool> ending_{false};
  std::array<std::atomic<std::uint64_t>, 2> bytes_{};
  std::vector<std::thread> carrying_;
  std::thread accepting_;
};

}  // namespace evershard
