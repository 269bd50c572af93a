// WrongTokens: who shows tokens that are not known is slowed, and told of in the log.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "evershard/doors/serving/access.hpp"

namespace evershard::serving {

struct WrongTokensOptions {
  double at_once_max = 10;             ///< of one address, before it is slowed
  double a_second_max = 1;             ///< from then on
  std::size_t addresses_max = 10'000;  ///< that are remembered; the one not heard of for longest is forgotten
  std::chrono::milliseconds told_every = std::chrono::seconds(10);  ///< of one address, after the first time
};

/// What an address may still try: plain, without a clock.
class TokenTries {
 public:
  using Clock = std::chrono::steady_clock;
  explicit TokenTries(const WrongTokensOptions& options) : options_(options) {}

  /// Absent: a token of this address is looked at now. Else no token of this address is looked at before that time.
  [[nodiscard]] std::optional<Clock::time_point> not_before(const std::string& address, Clock::time_point now);
  /// It was wrong. Returns: how many there were since this was last told of; absent: not worth telling again yet.
  [[nodiscard]] std::optional<std::uint64_t> wrong(const std::string& address, Clock::time_point now);
  [[nodiscard]] bool any() const { return !tried_.empty(); }

 private:
  struct Tried {
    std::string address;
    double left = 0;
    Clock::time_point at{};
    std::uint64_t untold = 0;
    std::optional<Clock::time_point> told{};
  };
  Tried& of(const std::string& address, Clock::time_point now);

  const WrongTokensOptions options_;
  std::list<Tried> tried_;  ///< the latest first
  std::unordered_map<std::string, std::list<Tried>::iterator> by_address_;
};

/// The same for the doors: any thread. A token that an address has shown rightly before is never held back by what else
/// comes from there.
class WrongTokens {
 public:
  /// `address` has shown so many wrong ones since it was last told of.
  using Tell = std::function<void(const std::string& address, std::uint64_t count)>;
  explicit WrongTokens(WrongTokensOptions options = {}, Tell tell = {});

  /// `access.identify(token)`, for who asks from `address`.
  /// Errors: unauthenticated; overloaded: too many wrong ones came from there, and this one was not looked at.
  [[nodiscard]] Result<Caller> identify(const Access& access, std::string_view token, const std::string& address);

 private:
  static constexpr std::size_t known_max = 10'000;

  [[nodiscard]] bool is_known(const std::string& address_and_name) const;
  void remember(std::string address_and_name);

  const Tell tell_;
  std::mutex mutex_;
  TokenTries tries_;
  mutable std::shared_mutex known_mutex_;
  std::unordered_set<std::string> known_;  ///< ADDRESS NAME of callers that were let in
};

}  // namespace evershard::serving
