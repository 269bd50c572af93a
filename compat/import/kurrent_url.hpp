// KurrentUrl: the connection string of KurrentDB's clients, as far as an import needs it. Decisions only.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"

namespace evershard::cli {

struct KurrentUrl {
  std::vector<std::string> hosts{};  ///< HOST:PORT each, in the order given
  std::string user{}, password{};    ///< empty: none
  bool tls = true;
  std::string tls_ca{};  ///< a file; empty: those of the system

  /// What follows the scheme: `user:password@host:2113,host:2114?tls=false`. What only other calls need is passed over.
  ///
  /// Errors: invalid_argument, without what may be a password
  [[nodiscard]] static Result<KurrentUrl> parse(std::string_view text);
  /// `kurrentdb://` and the hosts: neither user nor password.
  [[nodiscard]] std::string name() const;
};

}  // namespace evershard::cli
