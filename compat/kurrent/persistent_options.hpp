// What the options of a persistent subscription say: its stream and name, its limits, what it reads.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "evershard/compat/kurrent/persistent_subscription.hpp"
#include "evershard/kurrent/persistent.pb.h"
#include "evershard/kurrent/streams.pb.h"
#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::kurrent {

namespace esp = ::event_store::client::streams;
namespace esps = ::event_store::client::persistent_subscriptions;

/// Of one: the stream it reads, `$all` for all, and the name of the group.
struct SubscriptionName {
  std::string stream{}, group{};
  friend auto operator<=>(const SubscriptionName&, const SubscriptionName&) = default;
};

/// As `GetInfoReq`, `DeleteReq` and others name it.
template <class Options>
[[nodiscard]] SubscriptionName name_in(const Options& options) {
  return {options.has_all() ? std::string("$all") : options.stream_identifier().stream_name(), options.group_name()};
}
[[nodiscard]] SubscriptionName name_of(const esps::GroupOptions& options);

inline constexpr const char* persistent_type = "$persistent";
/// The aggregate that it is kept in.
[[nodiscard]] AggregateId kept_in_of(const SubscriptionName& name);
/// The other way. Absent: it is none.
[[nodiscard]] std::optional<SubscriptionName> name_kept_in(const AggregateId& aggregate);

/// Some clients say as older ones did: a stream beside its place, which is the greatest number for the end.
[[nodiscard]] esps::GroupOptions with_stream(esps::GroupOptions asked);
/// Errors: invalid_argument
[[nodiscard]] Result<void> check_settings(const esps::Settings& settings);
[[nodiscard]] std::string strategy_of(const esps::Settings& settings);
[[nodiscard]] std::int32_t message_timeout_ms_of(const esps::Settings& settings);
[[nodiscard]] std::int32_t checkpoint_after_ms_of(const esps::Settings& settings);
[[nodiscard]] PersistentLimits limits_of(const esps::Settings& settings);
/// What it is when it is changed to what was asked: what is not named stays. Its place is not looked at.
[[nodiscard]] esps::GroupOptions changed(esps::GroupOptions kept, const esps::GroupOptions& asked);
/// They say the same of where it begins.
[[nodiscard]] bool begin_alike(const esps::GroupOptions& one, const esps::GroupOptions& other);
/// Where it begins by a number: behind which. Absent: with the first event; or it begins at the end.
[[nodiscard]] std::optional<std::uint64_t> begins_behind(const esps::GroupOptions& options);
[[nodiscard]] bool begins_at_end(const esps::GroupOptions& options);

/// What it reads, as a read that theirs could ask for. `after`: absent: from the first event.
[[nodiscard]] esp::ReadReq read_of(const esps::GroupOptions& options, std::optional<std::uint64_t> after);
/// A place in it, as their server shows one.
[[nodiscard]] std::string shown_place(bool of_all, std::optional<std::uint64_t> key);

}  // namespace evershard::kurrent
