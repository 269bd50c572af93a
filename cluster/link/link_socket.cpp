#include "evershard/cluster/link/link_socket.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "evershard/cluster/link/tls_context.hpp"

namespace evershard::cluster {

void Descriptor::reset(int number) {
  if (number_ >= 0) ::close(number_);
  number_ = number;
}

SocketStep LinkSocket::shake_hands() {
  if (!tls_) return {1};
  ERR_clear_error();
  return tls_step(SSL_do_handshake(tls_.get()));
}

SocketStep LinkSocket::read(char* into, std::size_t size) {
  if (!tls_) return plain_step(::recv(number(), into, size, 0), false);
  ERR_clear_error();
  return tls_step(SSL_read(tls_.get(), into, static_cast<int>(std::min<std::size_t>(size, INT_MAX))));
}

SocketStep LinkSocket::write(std::string_view bytes) {
  if (!tls_) return plain_step(::send(number(), bytes.data(), bytes.size(), MSG_NOSIGNAL), true);
  ERR_clear_error();
  return tls_step(SSL_write(tls_.get(), bytes.data(), static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX))));
}

SocketStep LinkSocket::tls_step(int result) {
  if (result > 0) return {static_cast<std::size_t>(result)};
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {};
    case SSL_ERROR_WANT_WRITE:
      return {0, true};
    default:
      break;
  }
  const auto verified = SSL_get_verify_result(tls_.get());
  why_ = verified != X509_V_OK ? std::string("its certificate is refused: ") + X509_verify_cert_error_string(verified)
                               : "TLS: " + tls_error_text();
  ERR_clear_error();
  return {0, false, true};
}

SocketStep LinkSocket::plain_step(long result, bool writing) {
  if (result > 0) return {static_cast<std::size_t>(result)};
  if (result < 0 && (errno == EAGAIN || errno == EINTR)) return {0, writing};
  why_ = result == 0 ? "the connection was closed" : std::strerror(errno);
  return {0, false, true};
}

std::string peer_text(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  if (::getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "";
  return address.ss_family == AF_INET6 ? "[" + std::string(host) + "]:" + port : std::string(host) + ":" + port;
}

void tune(int socket, unsigned unacknowledged_ms) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof unacknowledged_ms);
}

}  // namespace evershard::cluster
