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
  /// Errors: invalid_argument: a file that is not there or holds no PEM of its kind, a key that is not the certificate's
  [[nodiscard]] static Result<std::shared_ptr<const TlsContext>> load(const LinkTls& files);

  /// A connection that dials: the peer's certificate must be for `name`. On a non-blocking socket, which it does not own.
  [[nodiscard]] std::shared_ptr<SSL> dialling(int socket, const std::string& name) const;
  /// One that was dialled: the peer's certificate must have one of `diallers`, if there are any.
  [[nodiscard]] std::shared_ptr<SSL> dialled(int socket) const;

  /// After the handshake of a connection that was dialled. Errors: unauthenticated
  [[nodiscard]] Result<void> check_dialler(SSL* connection) const;

 private:
  TlsContext() = default;
  std::shared_ptr<SSL_CTX> context_;
  std::vector<std::string> diallers_;
};

}  // namespace evershard::cluster
