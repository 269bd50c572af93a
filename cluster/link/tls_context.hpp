// TlsContext: certificate, key and CA as their files say them at one time.

#pragma once

#include <memory>
#include <string>

#include <openssl/ssl.h>

#include "evershard/cluster/link/link_options.hpp"

namespace evershard::cluster {

/// Of OpenSSL's: what went wrong last, and its queue emptied.
std::string tls_error_text();

class TlsContext {
 public:
  /// Errors: invalid_argument: a file that is not there or holds no PEM of its kind, a key that is not the
  ///         certificate's, a certificate that is not `who`'s
  [[nodiscard]] static Result<std::shared_ptr<const TlsContext>> load(const LinkTls& files, const LinkIdentity& who);

  /// A connection that dials: the peer's certificate must be for `name`. On a non-blocking socket, which it does not
  /// own.
  [[nodiscard]] std::shared_ptr<SSL> dialling(int socket, const std::string& name) const;
  /// One that was dialled.
  [[nodiscard]] std::shared_ptr<SSL> dialled(int socket) const;

  /// After the handshake: whether the peer's certificate is that of who it says, or should be. Errors: unauthenticated,
  /// with both
  [[nodiscard]] Result<void> check_member(SSL* connection, const LinkIdentity& who) const;

 private:
  TlsContext() = default;
  std::shared_ptr<SSL_CTX> context_;
  bool unbound_ = false;
};

}  // namespace evershard::cluster
