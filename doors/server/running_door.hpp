// RunningDoor: a listener of the server, whatever it speaks.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/doors/server/server_options.hpp"
#include "evershard/doors/serving/served.hpp"

namespace evershard::server {

class RunningDoor {
 public:
  virtual ~RunningDoor() = default;
  /// What it speaks: "grpc", "http".
  [[nodiscard]] virtual std::string_view speaks() const = 0;
  /// With the ports that were taken. None: it listens nowhere, and works for the doors of other nodes.
  [[nodiscard]] virtual std::vector<std::string> addresses() const = 0;
  /// Reads its certificates again. Errors: those of StartDoor; then it goes on with those it has
  [[nodiscard]] virtual Result<void> reload_tls() { return {}; }
  /// Tokens were read anew: what is open and would not be admitted any more ends.
  virtual void look_at_tokens_again() {}
  /// Served::not_ready has nothing any more: whoever asks how it is, is told that it serves.
  virtual void tell_ready() {}
  /// From now on health checks are told that the server is not well, for good.
  virtual void tell_unwell() {}
  /// Takes nothing new, waits for what is under way as long as `drain`, then ends that too; always comes back.
  virtual void stop(std::chrono::milliseconds drain) = 0;
};

/// Those that are open, in the order in which they were started.
using RunningDoors = std::vector<std::unique_ptr<RunningDoor>>;

/// `earlier` are those that were started before.
/// Returns: nothing, where the options want no such door.
/// Errors:  invalid_argument (an address that is none), unavailable (one that is in use)
using StartDoor = std::function<Result<std::unique_ptr<RunningDoor>>(
    serving::Served& served, const ServerOptions& options, const RunningDoors& earlier)>;

}  // namespace evershard::server
