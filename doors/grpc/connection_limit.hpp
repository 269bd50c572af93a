// ConnectionLimit: whose calls are answered, where there are more connections than a server may have. Decisions only.

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "evershard/protocol/error.hpp"

namespace evershard::door {

/// Who came first keeps its place until its connection is closed. gRPC 1.51 neither bounds connections nor tells when
/// one comes or goes: a connection counts from its first call on, and who is gone is looked for when there is no room.
///
/// A connection is its peer, HOST:PORT. Those of a Unix socket have no name of their own and are not bounded: who may
/// use it is a matter of its file's permissions. Any thread.
class ConnectionLimit {
 public:
  using Clock = std::chrono::steady_clock;
  /// `open`: the peers of all connections that are open now. It is asked at most ten times a second, and only where
  /// there is no room.
  ConnectionLimit(std::size_t most, std::function<std::vector<std::string>()> open)
      : most_(most), open_(std::move(open)) {}

  struct Refusal {
    Error error;  ///< overloaded
    std::chrono::milliseconds retry_after{};
    bool first = false;  ///< of this connection
  };
  /// A call of this peer. Absent: it is answered.
  [[nodiscard]] std::optional<Refusal> ask(const std::string& peer, Clock::time_point now);

 private:
  using Peers = std::unordered_set<std::string>;
  void forget_gone();

  const std::size_t most_;
  const std::function<std::vector<std::string>()> open_;
  std::mutex mutex_;
  Peers answered_;
  Peers refused_;  ///< open, and refused before; at most as many as are answered
  std::optional<Clock::time_point> looked_at_;
};

}  // namespace evershard::door
