// ClientGate: ClientLimits for the doors: any thread, with the clock.

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/doors/serving/access.hpp"
#include "evershard/doors/serving/client_limits.hpp"
#include "evershard/protocol/error.hpp"

namespace evershard::serving {

/// Who is counted: a token's name, or, where there are no tokens, the address that is asked from, without its port.
[[nodiscard]] std::string client_name(const Caller& caller, std::string_view address);

class ClientGate {
 public:
  struct Refusal {
    ClientLimit limit;
    Error error;  ///< overloaded
    std::chrono::milliseconds retry_after;
  };

  explicit ClientGate(ClientLimitOptions options) : limits_(options) {}

  /// A rate is limited: asking costs a lock. Else nobody need be named.
  [[nodiscard]] bool counts_requests() const { return limits_.options().any_rate(); }
  [[nodiscard]] std::optional<Refusal> ask(const std::string& client, std::uint64_t requests, std::uint64_t bytes);

  /// A stream is open as long as it is held. The gate outlives it.
  using Stream = std::shared_ptr<void>;
  struct Opened {
    std::optional<Refusal> refusal;
    Stream stream;
  };
  [[nodiscard]] Opened open(const std::string& client);

 private:
  [[nodiscard]] Refusal refusal_of(const ClientLimits::Refusal& refusal) const;

  std::mutex mutex_;
  ClientLimits limits_;
};

}  // namespace evershard::serving
