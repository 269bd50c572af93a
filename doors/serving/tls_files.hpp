// TlsFiles: where a door's certificates lie.

#pragma once

#include <string>

namespace evershard::serving {

/// PEM files.
struct TlsFiles {
  std::string certificate{};  ///< the chain, the server's own first; empty, as all: no TLS
  std::string key{};
  std::string client_ca{};  ///< not empty: clients need a certificate that one of these has signed

  [[nodiscard]] bool given() const { return !certificate.empty() || !key.empty() || !client_ca.empty(); }
};

}  // namespace evershard::serving
