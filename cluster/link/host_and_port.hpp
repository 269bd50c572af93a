// HostAndPort: HOST:PORT, or [IPV6]:PORT, as people write where a process listens.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace evershard::cluster {

struct HostAndPort {
  std::string host;  ///< an IPv6 address without its brackets
  std::uint16_t port = 0;
};

/// Nothing: it is none.
[[nodiscard]] std::optional<HostAndPort> host_and_port(std::string_view text);

}  // namespace evershard::cluster
