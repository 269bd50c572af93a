#include "evershard/compat/kurrent/persistent_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::kurrent {
namespace {

constexpr const char* all_name = "$all";

/// KurrentDB looks for what is late once a second. Clients gather what they settle for longer than some that is set.
constexpr std::int32_t message_timeout_ms_min = 1'000;

std::int32_t milliseconds_of(bool in_ticks, std::int64_t ticks, std::int32_t ms) {
  return in_ticks ? static_cast<std::int32_t>(std::clamp<std::int64_t>(ticks / 10'000, 0, INT32_MAX)) : ms;
}

}  // namespace

SubscriptionName name_of(const esps::GroupOptions& options) {
  if (options.has_all()) return {all_name, options.group_name()};
  return {options.has_stream() && !options.stream().stream_identifier().stream_name().empty()
              ? options.stream().stream_identifier().stream_name()
              : options.stream_identifier().stream_name(),
          options.group_name()};
}

// Lengths keep `a::b` and `c` apart from `a` and `b::c`.
AggregateId kept_in_of(const SubscriptionName& name) {
  return {persistent_type, std::to_string(name.stream.size()) + ':' + name.stream + "::" + name.group};
}

std::optional<SubscriptionName> name_kept_in(const AggregateId& aggregate) {
  const std::string_view value = aggregate.value;
  std::size_t length = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), length);
  if (aggregate.type != persistent_type || failed != std::errc()) return std::nullopt;
  const auto colon = static_cast<std::size_t>(end - value.data());
  if (colon >= value.size() || value[colon] != ':') return std::nullopt;
  const auto rest = value.substr(colon + 1);
  if (length > rest.size() || rest.substr(length, 2) != "::") return std::nullopt;
  return SubscriptionName{std::string(rest.substr(0, length)), std::string(rest.substr(length + 2))};
}

esps::GroupOptions with_stream(esps::GroupOptions asked) {
  if (asked.has_all() || asked.has_stream()) return asked;
  auto& stream = *asked.mutable_stream();
  *stream.mutable_stream_identifier() = asked.stream_identifier();
  const auto revision = asked.settings().revision();
  if (revision == std::numeric_limits<std::uint64_t>::max())
    stream.mutable_end();
  else if (revision == 0)
    stream.mutable_start();
  else
    stream.set_revision(revision);
  return asked;
}

std::int32_t message_timeout_ms_of(const esps::Settings& settings) {
  return milliseconds_of(settings.has_message_timeout_ticks(), settings.message_timeout_ticks(),
                         settings.message_timeout_ms());
}

std::int32_t checkpoint_after_ms_of(const esps::Settings& settings) {
  return milliseconds_of(settings.has_checkpoint_after_ticks(), settings.checkpoint_after_ticks(),
                         settings.checkpoint_after_ms());
}

std::string strategy_of(const esps::Settings& settings) {
  if (!settings.consumer_strategy().empty()) return settings.consumer_strategy();
  return esps::ConsumerStrategy_Name(settings.named_consumer_strategy());
}

PersistentLimits limits_of(const esps::Settings& settings) {
  PersistentLimits limits;
  limits.retries_max = static_cast<std::uint32_t>(std::max(settings.max_retry_count(), 0));
  if (const auto timeout_ms = message_timeout_ms_of(settings); timeout_ms > 0)
    limits.message_timeout = std::chrono::milliseconds(std::max(timeout_ms, message_timeout_ms_min));
  else
    limits.message_timeout = std::chrono::milliseconds(0);
  limits.buffer_max = static_cast<std::size_t>(
      std::clamp(std::max(settings.history_buffer_size(), settings.live_buffer_size()), 1, 10'000));
  const auto strategy = strategy_of(settings);
  limits.choice = strategy == "DispatchToSingle"   ? ConsumerChoice::single
                  : strategy.starts_with("Pinned") ? ConsumerChoice::pinned
                                                   : ConsumerChoice::round_robin;
  return limits;
}

Result<void> check_settings(const esps::Settings& settings) {
  const auto strategy = strategy_of(settings);
  constexpr std::array known{"DispatchToSingle", "RoundRobin", "Pinned", "PinnedByCorrelation"};
  if (std::ranges::none_of(known, [&](const char* each) { return strategy == each; }))
    return refuse(ErrorCode::invalid_argument, in_quotes(strategy, 100) + " is no consumer strategy");
  if (settings.max_retry_count() < 0 || settings.max_subscriber_count() < 0 || message_timeout_ms_of(settings) < 0 ||
      checkpoint_after_ms_of(settings) < 0)
    return refuse(ErrorCode::invalid_argument, "a setting of a persistent subscription is negative");
  if (settings.read_batch_size() > 0 && settings.history_buffer_size() <= settings.read_batch_size())
    return refuse(ErrorCode::invalid_argument,
                  "the history buffer of a persistent subscription, " + std::to_string(settings.history_buffer_size()) +
                      ", is to be larger than what is read at once, " + std::to_string(settings.read_batch_size()));
  return {};
}

esps::GroupOptions changed(esps::GroupOptions kept, const esps::GroupOptions& asked) {
  const auto filter = kept.all();
  const auto strategy = strategy_of(kept.settings());
  *kept.mutable_settings() = asked.settings();
  // A change does not name it in a text, and from most clients not at all.
  if (kept.settings().consumer_strategy().empty()) {
    const bool named = asked.settings().named_consumer_strategy() != esps::DispatchToSingle;
    kept.mutable_settings()->set_consumer_strategy(
        named ? esps::ConsumerStrategy_Name(asked.settings().named_consumer_strategy()) : strategy);
  }
  if (asked.has_all()) {
    *kept.mutable_all() = asked.all();
    if (filter.has_filter()) *kept.mutable_all()->mutable_filter() = filter.filter();
  } else if (asked.has_stream()) {
    *kept.mutable_stream() = asked.stream();
  }
  return kept;
}

bool begin_alike(const esps::GroupOptions& one, const esps::GroupOptions& other) {
  return begins_at_end(one) == begins_at_end(other) && begins_behind(one) == begins_behind(other);
}

std::optional<std::uint64_t> begins_behind(const esps::GroupOptions& options) {
  const auto at = options.has_all() ? options.all().has_position() ? options.all().position().commit_position() : 0
                  : options.stream().has_revision() ? options.stream().revision()
                                                    : 0;
  return at == 0 ? std::nullopt : std::optional(at - 1);
}

bool begins_at_end(const esps::GroupOptions& options) {
  return options.has_all() ? options.all().has_end() : options.stream().has_end();
}

esp::ReadReq read_of(const esps::GroupOptions& options, std::optional<std::uint64_t> after) {
  esp::ReadReq request;
  auto& read = *request.mutable_options();
  read.set_resolve_links(options.settings().resolve_links());
  read.mutable_subscription();
  read.mutable_uuid_option()->mutable_string();
  if (options.has_all()) {
    if (after) {
      read.mutable_all()->mutable_position()->set_commit_position(*after);
      read.mutable_all()->mutable_position()->set_prepare_position(*after);
    } else {
      read.mutable_all()->mutable_start();
    }
    if (options.all().has_filter()) *read.mutable_filter() = options.all().filter();
    return request;
  }
  read.mutable_stream()->mutable_stream_identifier()->set_stream_name(name_of(options).stream);
  if (after)
    read.mutable_stream()->set_revision(*after);
  else
    read.mutable_stream()->mutable_start();
  return request;
}

std::string shown_place(bool of_all, std::optional<std::uint64_t> key) {
  if (!key) return {};
  const auto text = std::to_string(*key);
  return of_all ? "C:" + text + "/P:" + text : text;
}

}  // namespace evershard::kurrent
