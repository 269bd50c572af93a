// HostAndPort: HOST:PORT, or [IPV6]:PORT, as people write where a process listens.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evershard::cluster {

struct HostAndPort {
  std::string host;  ///< an IPv6 address without its brackets
  std::uint16_t port = 0;
  friend bool operator==(const HostAndPort&, const HostAndPort&) = default;
};

/// Nothing: it is none.
[[nodiscard]] std::optional<HostAndPort> host_and_port(std::string_view text);

/// Several, with commas between them. Empty: one of them is none.
[[nodiscard]] std::vector<HostAndPort> hosts_and_ports(std::string_view text);
/// As people write it.
[[nodiscard]] std::string text_of(const HostAndPort& place);

/// Whether others can be told to go there: not a port that is chosen when it is opened, nor all addresses of a machine.
[[nodiscard]] bool can_be_reached(const HostAndPort& place);
/// 0.0.0.0, [::], *
[[nodiscard]] bool is_of_all(const HostAndPort& place);

}  // namespace evershard::cluster
