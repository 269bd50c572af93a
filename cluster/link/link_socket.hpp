// LinkSocket: a TCP connection, plain or TLS, that never waits.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <openssl/ssl.h>

#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// A file descriptor, closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~Descriptor() { reset(); }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  void reset(int number = -1);

 private:
  int number_;
};

/// How a step on a socket went: bytes, or none for now, or no more ever.
struct SocketStep {
  std::size_t bytes = 0;
  bool wants_write = false;  ///< of a step without bytes: it goes on when the socket can be written to, not read
  bool failed = false;
};

class LinkSocket {
 public:
  LinkSocket() = default;
  explicit LinkSocket(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  void secure(std::shared_ptr<SSL> tls) { tls_ = std::move(tls); }
  /// TLS's; bytes: 1 when it is done.
  SocketStep shake_hands();
  SocketStep read(char* into, std::size_t size);
  SocketStep write(std::string_view bytes);
  /// Of the step that failed.
  [[nodiscard]] const std::string& why() const { return why_; }

  [[nodiscard]] int number() const { return descriptor_.number(); }
  [[nodiscard]] const std::shared_ptr<SSL>& tls() const { return tls_; }
  /// The descriptor goes to who carries the connection on.
  [[nodiscard]] int release() { return descriptor_.release(); }

 private:
  SocketStep tls_step(int result);
  SocketStep plain_step(long result, bool writing);

  Descriptor descriptor_;
  std::shared_ptr<SSL> tls_;
  std::string why_;
};

/// `127.0.0.1:7420`, `[::1]:7420`; of a socket's other side. Empty: it is gone
std::string peer_text(int socket);
/// No delay, keep-alive, and not more than `unacknowledged_ms` for what the network swallows.
void tune(int socket, unsigned unacknowledged_ms);

}  // namespace evershard::cluster
