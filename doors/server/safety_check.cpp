#include "evershard/doors/server/safety_check.hpp"

#include <arpa/inet.h>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::server {
namespace {

std::string host_of(std::string_view address) {
  if (address.starts_with('[')) return std::string(address.substr(1, address.find(']') - 1));
  return std::string(address.substr(0, address.rfind(':')));
}

}  // namespace

bool is_local(std::string_view address) {
  if (address.starts_with("unix:")) return true;
  const auto host = host_of(address);
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six{};
  if (::inet_pton(AF_INET6, host.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  return host == "localhost";
}

std::vector<std::string> unsafe(const std::vector<Exposure>& exposures) {
  std::vector<std::string> findings;
  for (const auto& exposure : exposures) {
    if (is_local(exposure.address)) continue;
    const bool known = exposure.tokens || exposure.client_certificates;
    if (exposure.encrypted && known) continue;
    findings.push_back(exposure.setting + ' ' + in_quotes(exposure.address, 200) +
                       " can be reached from other machines, " +
                       (!exposure.encrypted && !known ? "without TLS and without tokens"
                        : !exposure.encrypted         ? "without TLS"
                                                      : "without tokens or client certificates"));
  }
  return findings;
}

}  // namespace evershard::server
