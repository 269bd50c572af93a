#include "evershard/cluster/link/host_and_port.hpp"

#include <charconv>

namespace evershard::cluster {

std::optional<HostAndPort> host_and_port(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return std::nullopt;
  HostAndPort place{std::string(text.substr(0, colon)), 0};
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, place.port);
  if (read.ptr != end || read.ec != std::errc()) return std::nullopt;
  if (place.host.size() > 2 && place.host.front() == '[' && place.host.back() == ']')
    place.host = place.host.substr(1, place.host.size() - 2);
  return place;
}

std::vector<HostAndPort> hosts_and_ports(std::string_view text) {
  std::vector<HostAndPort> places;
  for (;;) {
    const auto comma = text.find(',');
    auto place = host_and_port(text.substr(0, comma));
    if (!place) return {};
    places.push_back(*std::move(place));
    if (comma == std::string_view::npos) return places;
    text.remove_prefix(comma + 1);
  }
}

std::string text_of(const HostAndPort& place) {
  const bool is_ipv6 = place.host.find(':') != std::string::npos;
  return (is_ipv6 ? '[' + place.host + ']' : place.host) + ':' + std::to_string(place.port);
}

bool is_of_all(const HostAndPort& place) { return place.host == "0.0.0.0" || place.host == "::" || place.host == "*"; }

bool can_be_reached(const HostAndPort& place) { return place.port != 0 && !is_of_all(place); }

}  // namespace evershard::cluster
