#include "evershard/cluster/etcd/etcd_options.hpp"

#include <algorithm>
#include <charconv>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cluster {
namespace {

Refused wrong(std::string_view address, const std::string& why) {
  return refuse(ErrorCode::invalid_argument, in_quotes(address, 200) + " is no address of an etcd: " + why +
                                                 "; as in etcd://h1:2379,h2:2379,h3:2379/evershard");
}

bool is_member(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto digits = text.substr(colon + 1);
  unsigned port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return error == std::errc{} && end == digits.data() + digits.size() && port > 0 && port <= 65'535 &&
         text.find_first_of(" \t/") == std::string_view::npos;
}

}  // namespace

Result<EtcdOptions> etcd_options_of(std::string_view address) {
  EtcdOptions options;
  std::string_view rest = address;
  if (rest.starts_with("etcds://")) {
    options.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("etcd://")) {
    rest.remove_prefix(7);
  } else {
    return wrong(address, "it begins with etcd:// or etcds://");
  }
  const auto slash = rest.find('/');
  if (slash != std::string_view::npos) {
    const auto prefix = rest.substr(slash + 1);
    if (prefix.find_first_of("/ \t") != std::string_view::npos) return wrong(address, "its prefix is one word");
    if (!prefix.empty()) options.prefix = std::string(prefix) + '/';
    rest = rest.substr(0, slash);
  }
  while (true) {
    const auto comma = rest.find(',');
    const auto member = rest.substr(0, comma);
    if (!is_member(member)) return wrong(address, in_quotes(member, 80) + " is not HOST:PORT");
    if (std::ranges::find(options.members, member) != options.members.end())
      return wrong(address, std::string(member) + " comes twice");
    options.members.emplace_back(member);
    if (comma == std::string_view::npos) return options;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace evershard::cluster
