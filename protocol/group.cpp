#include "evershard/protocol/group.hpp"

#include <string>

namespace evershard {
namespace {

template <class Value>
Result<void> check_group_range(const char* field, Value value, Value least, Value most) {
  if (value >= least && value <= most) return {};
  return refuse(ErrorCode::invalid_argument, std::string(field) + " is " + std::to_string(value) + ": it is from " +
                                                 std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

std::string_view name_of(GroupOrder order) { return order == GroupOrder::global ? "global" : "aggregate"; }
std::string_view name_of(AfterParked after) { return after == AfterParked::block ? "block" : "go_on"; }

std::optional<GroupOrder> group_order_of(std::string_view name) {
  for (const auto order : {GroupOrder::aggregate, GroupOrder::global}) {
    if (name == name_of(order)) return order;
  }
  return std::nullopt;
}

std::optional<AfterParked> after_parked_of(std::string_view name) {
  for (const auto after : {AfterParked::go_on, AfterParked::block}) {
    if (name == name_of(after)) return after;
  }
  return std::nullopt;
}

Result<void> GroupSettings::check() const {
  constexpr std::int64_t week_ms = 7ll * 24 * 3'600'000, day_ms = 24ll * 3'600'000;
  EVERSHARD_TRY(check_group_range("attempts_max", attempts_max, 1u, 1'000u));
  EVERSHARD_TRY(check_group_range<std::int64_t>("retry_first_ms", retry_first.count(), 0, week_ms));
  EVERSHARD_TRY(check_group_range("retry_factor", retry_factor, 1u, 100u));
  EVERSHARD_TRY(check_group_range<std::int64_t>("retry_most_ms", retry_most.count(), 0, week_ms));
  EVERSHARD_TRY(check_group_range("retry_jitter_percent", retry_jitter_percent, 0u, 100u));
  EVERSHARD_TRY(check_group_range<std::int64_t>("lease_ms", lease.count(), 100, day_ms));
  EVERSHARD_TRY(check_group_range("window", window, 1u, 10'000u));
  EVERSHARD_TRY(check_group_range("parked_max", parked_max, 1u, 10'000u));
  return {};
}

void GroupSettingsChange::apply(GroupSettings& settings) const {
  if (order) settings.order = *order;
  if (after_parked) settings.after_parked = *after_parked;
  if (attempts_max) settings.attempts_max = *attempts_max;
  if (retry_first) settings.retry_first = *retry_first;
  if (retry_factor) settings.retry_factor = *retry_factor;
  if (retry_most) settings.retry_most = *retry_most;
  if (retry_jitter_percent) settings.retry_jitter_percent = *retry_jitter_percent;
  if (lease) settings.lease = *lease;
  if (window) settings.window = *window;
  if (parked_max) settings.parked_max = *parked_max;
}

Result<void> GroupSettingsChange::check() const {
  GroupSettings settings;  // each field has a range of its own, and defaults are within
  apply(settings);
  return settings.check();
}

}  // namespace evershard
