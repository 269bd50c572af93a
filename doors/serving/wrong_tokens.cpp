#include "evershard/doors/serving/wrong_tokens.hpp"

#include <algorithm>
#include <utility>

namespace evershard::serving {

TokenTries::Tried& TokenTries::of(const std::string& address, Clock::time_point now) {
  if (const auto found = by_address_.find(address); found != by_address_.end()) {
    auto& tried = *found->second;
    tried_.splice(tried_.begin(), tried_, found->second);
    const std::chrono::duration<double> since = now - std::exchange(tried.at, now);
    tried.left = std::min(options_.at_once_max, tried.left + since.count() * options_.a_second_max);
    return tried;
  }
  if (tried_.size() >= options_.addresses_max) {
    by_address_.erase(tried_.back().address);
    tried_.pop_back();
  }
  tried_.push_front({address, options_.at_once_max, now});
  by_address_.emplace(address, tried_.begin());
  return tried_.front();
}

std::optional<TokenTries::Clock::time_point> TokenTries::not_before(const std::string& address, Clock::time_point now) {
  if (!by_address_.contains(address)) return std::nullopt;
  const auto& tried = of(address, now);
  if (tried.left >= 1) return std::nullopt;
  const std::chrono::duration<double> until((1 - tried.left) / options_.a_second_max);
  return now + std::chrono::ceil<Clock::duration>(until);
}

std::optional<std::uint64_t> TokenTries::wrong(const std::string& address, Clock::time_point now) {
  auto& tried = of(address, now);
  tried.left = std::max(0.0, tried.left - 1);
  ++tried.untold;
  if (tried.told && now - *tried.told < options_.told_every) return std::nullopt;
  tried.told = now;
  return std::exchange(tried.untold, 0);
}

WrongTokens::WrongTokens(WrongTokensOptions options, Tell tell) : tell_(std::move(tell)), tries_(options) {}

Result<Caller> WrongTokens::identify(const Access& access, std::string_view token, const std::string& address) {
  if (access.is_open() || token.empty()) return access.identify(token);
  const auto now = TokenTries::Clock::now();
  std::optional<TokenTries::Clock::time_point> later;
  {
    const std::lock_guard lock(mutex_);
    later = tries_.not_before(address, now);
  }
  auto caller = access.identify(token);
  if (caller) {
    auto known = address + ' ' + caller->name;
    if (later && !is_known(known)) caller = refuse(ErrorCode::overloaded, {});
    if (caller) {
      remember(std::move(known));
      return caller;
    }
  }
  if (later) {
    const auto ms = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::milliseconds>(*later - now).count());
    return refuse(ErrorCode::overloaded, "too many wrong tokens came from " + address +
                                             ": this one was not looked at; try again in " + std::to_string(ms) +
                                             " ms");
  }
  std::optional<std::uint64_t> count;
  {
    const std::lock_guard lock(mutex_);
    count = tries_.wrong(address, now);
  }
  if (count && tell_) tell_(address, *count);
  return caller;
}

bool WrongTokens::is_known(const std::string& address_and_name) const {
  const std::shared_lock lock(known_mutex_);
  return known_.contains(address_and_name);
}

void WrongTokens::remember(std::string address_and_name) {
  if (is_known(address_and_name)) return;
  const std::unique_lock lock(known_mutex_);
  if (known_.size() >= known_max) known_.clear();  // each is remembered anew with its next call
  known_.insert(std::move(address_and_name));
}

}  // namespace evershard::serving
