// ServiceNotice: tells systemd how the service is, over the socket that NOTIFY_SOCKET names. Elsewhere nothing.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace evershard::server {

/// Source: sd_notify(3)
class ServiceNotice {
 public:
  /// From NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  [[nodiscard]] static ServiceNotice from_environment();
  /// `socket`: a path, or @NAME of the abstract namespace; empty: nobody listens.
  ServiceNotice(std::string socket, std::optional<std::chrono::milliseconds> watchdog)
      : socket_(std::move(socket)), watchdog_(watchdog) {}

  /// `READY=1`, `STOPPING=1`, `WATCHDOG=1`, `STATUS=...`; what is not delivered is no error.
  void send(std::string_view state) const;
  /// How often `WATCHDOG=1` is due: half of what systemd waits. Absent: it does not wait for it.
  [[nodiscard]] std::optional<std::chrono::milliseconds> watchdog_every() const { return watchdog_; }

 private:
  std::string socket_;
  std::optional<std::chrono::milliseconds> watchdog_;
};

}  // namespace evershard::server
