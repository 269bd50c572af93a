// SafetyCheck: whether what is to be served may be reached by those who should not. No socket, no file.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evershard::server {

/// One address to listen at, and who gets through.
struct Exposure {
  std::string address;               ///< HOST:PORT, or unix:PATH
  std::string setting;               ///< which asked for it, for the sentence
  bool encrypted = false;            ///< TLS
  bool client_certificates = false;  ///< mutual TLS
  bool tokens = false;
};

/// Reached from this machine alone: 127.x.y.z, [::1], localhost, a Unix socket. Other names are not: they may mean
/// anything.
[[nodiscard]] bool is_local(std::string_view address);

/// A sentence for each address that is reached from elsewhere and lacks TLS, or both tokens and client certificates.
/// None: safe.
[[nodiscard]] std::vector<std::string> unsafe(const std::vector<Exposure>& exposures);

}  // namespace evershard::server
