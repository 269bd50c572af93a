// ClientLimits: how much each client may ask. No clock, no thread: times are given.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace evershard::serving {

/// Of one client. 0: no limit.
struct ClientLimitOptions {
  std::uint64_t requests_per_second_max = 0;  ///< and as many at once, after a quiet second
  std::uint64_t bytes_per_second_max = 0;  ///< of what comes in; a message that is larger than that by itself is taken
                                           ///< after a quiet second, and paid for afterwards
  std::uint64_t streams_max = 10'000;      ///< open at once
  std::size_t clients_max = 10'000;        ///< remembered; those beyond them share one account

  [[nodiscard]] bool any_rate() const { return requests_per_second_max != 0 || bytes_per_second_max != 0; }
};

enum class ClientLimit : std::uint8_t { requests, bytes, streams };
[[nodiscard]] std::string_view name_of(ClientLimit limit);

/// So much a second, after a quiet second all of it at once: a bucket of tokens, kept as the time at which it is full
/// again. Source: ITU-T I.371, Annex A: the generic cell rate algorithm
class Rate {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Returns: 0: taken; else how long until it would be. Units: ns
  std::chrono::nanoseconds take(std::uint64_t amount, std::uint64_t per_second, Time now);

 private:
  Time full_at_ = Time::min();
};

class ClientLimits {
 public:
  using Time = Rate::Time;
  struct Refusal {
    ClientLimit limit;
    std::chrono::milliseconds retry_after;
  };

  explicit ClientLimits(ClientLimitOptions options) : options_(options) {}

  /// A request, or some of one, of `bytes`. Returns: why not; then nothing was taken.
  [[nodiscard]] std::optional<Refusal> ask(const std::string& client, std::uint64_t requests, std::uint64_t bytes,
                                           Time now);
  /// A stream, until close() with what was given here: the account it is on.
  struct Opened {
    std::optional<Refusal> refusal;
    std::string account;
  };
  [[nodiscard]] Opened open(const std::string& client);
  void close(const std::string& account);

  [[nodiscard]] const ClientLimitOptions& options() const { return options_; }
  [[nodiscard]] std::size_t clients() const { return accounts_.size(); }

 private:
  struct Account {
    Rate requests, bytes;
    std::uint64_t streams = 0;
    std::list<std::string>::iterator seen;  ///< in seen_, the latest at the end
  };
  using Accounts = std::unordered_map<std::string, Account>;

  /// What the client is counted on.
  Accounts::iterator account_of(const std::string& client);
  bool make_room();

  const ClientLimitOptions options_;
  Accounts accounts_;
  std::list<std::string> seen_;
};

}  // namespace evershard::serving
