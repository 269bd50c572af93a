// ConnectFaults: what will never work is told at once: why no connection is made, in plain words, and when that is
// final. Decisions only: no clock, no connection.

#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard::remote {

/// HOST:PORT; without a port 7420; gRPC's own schemes (unix:, dns:, ...) as they are. Errors: invalid_argument
[[nodiscard]] Result<std::string> whole_address(std::string_view text);

/// The fault that gRPC names where no connection was made. Nothing: the error names no fault that somebody has to mend
/// first.
[[nodiscard]] std::optional<std::string_view> fault_words(const Error& error);

/// Of the addresses of one client. Once anybody has answered, a server that cannot be reached is waited for, as one
/// that is being started again. Before that, what no time mends is final when every address says so: at once, or, of
/// what a start may look like, after a second.
///
/// Source: docs/server.md, "What is tried again"; tests/clients/connections.json has the cases
class ConnectFaults {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ConnectFaults(std::size_t addresses) : addresses_(addresses) {}

  /// A server answered.
  void heard() { heard_ = true; }
  [[nodiscard]] bool was_heard() const { return heard_; }
  /// What a call at this address ended with, or that it is final (`unavailable`, lasting). `told`: by a server.
  [[nodiscard]] Error failed(std::size_t number, const std::string& address, Error error, bool told,
                             Clock::time_point now);
  /// No address will ever work.
  [[nodiscard]] std::optional<Error> final_fault() const;

 private:
  std::size_t addresses_;
  bool heard_ = false;
  std::map<std::size_t, Clock::time_point> since_;
  std::map<std::size_t, Error> final_;
};

}  // namespace evershard::remote
