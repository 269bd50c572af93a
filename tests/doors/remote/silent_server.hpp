// SilentServer: takes connections and never says a word.

#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace evershard {

class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    (void)::bind(socket_, reinterpret_cast<sockaddr*>(&at), size);
    (void)::listen(socket_, 16);
    (void)::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size);
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  }
  ~SilentServer() { ::close(socket_); }
  SilentServer(const SilentServer&) = delete;
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] int socket() const { return socket_; }

 private:
  int socket_;
  std::string address_;
};

}  // namespace evershard
