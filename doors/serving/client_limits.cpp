#include "evershard/doors/serving/client_limits.hpp"

#include <algorithm>
#include <utility>

namespace evershard::serving {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds one_second = std::chrono::seconds(1);
/// Of all who find no room in the table. No client is called so: see client_name().
const std::string those_beyond = "*";
/// How many are looked at to find one that can be forgotten.
constexpr int looked_at_max = 16;
constexpr auto stream_retry_after = std::chrono::milliseconds(1'000);

/// The time that `amount` is worth; a century at most.
nanoseconds worth(std::uint64_t amount, std::uint64_t per_second) {
  constexpr double longest = 1e9 * 3'600 * 24 * 365 * 100;
  return nanoseconds(static_cast<std::int64_t>(
      std::min(longest, static_cast<double>(amount) * 1e9 / static_cast<double>(per_second))));
}

}  // namespace

std::string_view name_of(ClientLimit limit) {
  switch (limit) {
    case ClientLimit::requests:
      return "requests";
    case ClientLimit::bytes:
      return "bytes";
    case ClientLimit::streams:
      return "streams";
  }
  return "unknown";
}

nanoseconds Rate::take(std::uint64_t amount, std::uint64_t per_second, Time now) {
  const auto from = std::max(full_at_, now);
  const auto cost = worth(amount, per_second);
  const auto wait = from + std::min(cost, one_second) - one_second - now;
  if (wait > nanoseconds(0)) return wait;
  full_at_ = from + cost;
  return nanoseconds(0);
}

std::optional<ClientLimits::Refusal> ClientLimits::ask(const std::string& client, std::uint64_t requests,
                                                       std::uint64_t bytes, Time now) {
  if (!options_.any_rate()) return std::nullopt;
  auto& account = account_of(client)->second;
  const auto late = [](ClientLimit limit, nanoseconds wait) {
    return Refusal{limit, std::chrono::ceil<std::chrono::milliseconds>(wait)};
  };
  const auto before = account.requests;
  if (options_.requests_per_second_max != 0 && requests != 0) {
    if (const auto wait = account.requests.take(requests, options_.requests_per_second_max, now); wait.count() > 0)
      return late(ClientLimit::requests, wait);
  }
  if (options_.bytes_per_second_max != 0 && bytes != 0) {
    if (const auto wait = account.bytes.take(bytes, options_.bytes_per_second_max, now); wait.count() > 0) {
      account.requests = before;
      return late(ClientLimit::bytes, wait);
    }
  }
  return std::nullopt;
}

ClientLimits::Opened ClientLimits::open(const std::string& client) {
  const auto found = account_of(client);
  if (options_.streams_max != 0 && found->second.streams >= options_.streams_max)
    return {Refusal{ClientLimit::streams, stream_retry_after}, {}};
  ++found->second.streams;
  return {std::nullopt, found->first};
}

void ClientLimits::close(const std::string& account) {
  const auto found = accounts_.find(account);
  if (found != accounts_.end() && found->second.streams > 0) --found->second.streams;
}

ClientLimits::Accounts::iterator ClientLimits::account_of(const std::string& client) {
  auto found = accounts_.find(client);
  if (found == accounts_.end()) {
    // One place is that of all who find none.
    const bool room = accounts_.size() + 1 < std::max<std::size_t>(options_.clients_max, 2) || make_room();
    const auto [at, is_new] = accounts_.try_emplace(room ? client : those_beyond);
    if (is_new) at->second.seen = seen_.insert(seen_.end(), at->first);
    found = at;
  }
  seen_.splice(seen_.end(), seen_, found->second.seen);
  return found;
}

/// Forgets somebody who was not seen for long and has nothing open. What he owes is forgiven: a second's worth, as a
/// rule.
bool ClientLimits::make_room() {
  for (int i = 0; i < looked_at_max && !seen_.empty(); ++i) {
    const auto found = accounts_.find(seen_.front());
    if (found->second.streams == 0 && found->first != those_beyond) {
      seen_.pop_front();
      accounts_.erase(found);
      return true;
    }
    seen_.splice(seen_.end(), seen_, seen_.begin());
  }
  return false;
}

}  // namespace evershard::serving
