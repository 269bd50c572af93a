// RawPeer: a socket that says what a test wants, and may greet as an honest peer before it does.

#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "evershard/cluster/link/session/greeting.hpp"
#include "evershard/cluster/link/session/link_peer.hpp"
#include "tests/link/shell/test_node.hpp"

namespace evershard::cluster {

class RawPeer {
 public:
  explicit RawPeer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  ~RawPeer() { ::close(socket_); }
  RawPeer(const RawPeer&) = delete;

  bool say(std::string_view bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  std::string hear(std::size_t bytes, std::chrono::milliseconds time = std::chrono::seconds(10)) {
    std::string heard(bytes, '\0');
    std::size_t got = 0;
    for (const auto until = std::chrono::steady_clock::now() + time;
         got < bytes && std::chrono::steady_clock::now() < until;) {
      pollfd look{socket_, POLLIN, 0};
      if (::poll(&look, 1, 20) != 1) continue;
      const auto step = ::recv(socket_, heard.data() + got, bytes - got, 0);
      if (step <= 0) break;
      got += static_cast<std::size_t>(step);
    }
    heard.resize(got);
    return heard;
  }
  /// The other side has closed it.
  bool is_over(std::chrono::milliseconds time = std::chrono::seconds(10)) {
    return wait_for(
        [&] {
          char bytes[4'096];
          const auto step = ::recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
          return step == 0 || (step < 0 && errno != EAGAIN);
        },
        time);
  }
  /// As node `own`, to `node`. Returns: what they agreed
  Result<LinkAgreement> greet(std::uint32_t own, std::uint32_t node) {
    GreetingSetup setup;
    setup.own = make_hello({"cluster-1", 16, 1, NodeNumber(own), NodeRole::node, 4'711}, {}, SessionNumber(99),
                           NodeNumber(node));
    setup.heartbeat = std::chrono::milliseconds(500);
    setup.secret = test_secret;
    Greeting greeting(std::move(setup));
    while (!greeting.outcome()) {
      say(greeting.take_output());
      const auto bytes = hear(greeting.wants());
      if (bytes.size() != greeting.wants()) return refuse(ErrorCode::unavailable, "it ended");
      greeting.received(bytes);
    }
    return *greeting.outcome();
  }
  [[nodiscard]] bool is_connected() const { return connected_; }
  [[nodiscard]] int socket() const { return socket_; }

 private:
  const int socket_;
  bool connected_ = false;
};

}  // namespace evershard::cluster
