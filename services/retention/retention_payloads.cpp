#include "evershard/services/retention/retention_payloads.hpp"

#include <nlohmann/json.hpp>

#include "evershard/protocol/retention_events.hpp"

namespace evershard::cluster {
namespace {

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Event retention_event(AggregateId aggregate, std::string_view type, std::string json) {
  Event event;
  event.aggregate = std::move(aggregate);
  event.type = type;
  event.payload = std::move(json);
  event.format = PayloadFormat::json;
  return event;
}

void add(RetentionResult& to, const storage::RewriteFigures& figures) {
  to.events += figures.events;
  to.records += figures.records;
  to.bytes_before += figures.bytes_before;
  to.bytes_after += figures.bytes_after;
}

AggregateId retention_log() { return {std::string(retention::log_type), std::string(retention::log_value)}; }

RetentionPayload::RetentionPayload(std::string_view operation, const RetentionOrder& order) {
  if (!operation.empty()) text("operation", operation);
  if (!order.by.empty()) text("by", order.by);
  if (!order.reason.empty()) text("reason", order.reason);
}

void RetentionPayload::key(std::string_view name) {
  if (json_.size() > 1) json_ += ',';
  json_.append(json_string(name)).append(1, ':');
}

RetentionPayload& RetentionPayload::text(std::string_view name, std::string_view value) {
  key(name);
  json_ += json_string(value);
  return *this;
}

RetentionPayload& RetentionPayload::number(std::string_view name, std::uint64_t value) {
  key(name);
  json_ += std::to_string(value);
  return *this;
}

RetentionPayload& RetentionPayload::flag(std::string_view name, bool value) {
  key(name);
  json_ += value ? "true" : "false";
  return *this;
}

RetentionPayload& RetentionPayload::figures(const storage::RewriteFigures& figures) {
  return number("events", figures.events)
      .number("records", figures.records)
      .number("bytes_before", figures.bytes_before)
      .number("bytes_after", figures.bytes_after);
}

RetentionPayload& RetentionPayload::ranges(std::string_view name,
                                           const std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges) {
  key(name);
  json_ += '[';
  for (const auto& [first, last] : ranges) {
    if (json_.back() == ']') json_ += ',';
    json_.append(1, '[').append(std::to_string(first)).append(1, ',').append(std::to_string(last)).append(1, ']');
  }
  json_ += ']';
  return *this;
}

Result<void> check_fits(const std::string& entry, const Limits& limits) {
  constexpr std::size_t later_entry_bytes_more = 512;  // than the first: figures, or why it was dropped
  const auto most = limits.payload_bytes_max;
  if (entry.size() + later_entry_bytes_more <= most) return {};
  return refuse(ErrorCode::too_large,
                "the log of retention would have entries of " + std::to_string(entry.size() + later_entry_bytes_more) +
                    " bytes, and a payload of this store has up to " + std::to_string(most) + ": nothing was removed");
}

std::string RetentionPayload::take() { return std::move(json_) + '}'; }

std::string operation_of(std::string_view json) {
  const auto read = nlohmann::json::parse(json, nullptr, false);
  if (!read.is_object()) return {};
  const auto operation = read.find("operation");
  return operation != read.end() && operation->is_string() ? operation->get<std::string>() : std::string();
}

std::string policy_payload(const RetentionPolicy& policy, const RetentionOrder& order) {
  return RetentionPayload({}, order)
      .text("kind", name_of(policy.kind))
      .text("type", policy.type)
      .number("keep_seconds", static_cast<std::uint64_t>(policy.keep.count()))
      .flag("uncovered", policy.uncovered)
      .take();
}

std::optional<RetentionPolicy> policy_of(const std::string& name, std::string_view json) {
  const auto read = nlohmann::json::parse(json, nullptr, false);
  if (!read.is_object()) return std::nullopt;
  const auto kind = read.find("kind"), type = read.find("type"), keep = read.find("keep_seconds"),
             uncovered = read.find("uncovered");
  if (kind == read.end() || !kind->is_string() || type == read.end() || !type->is_string() || keep == read.end() ||
      !keep->is_number_unsigned())
    return std::nullopt;
  const auto known = policy_kind_of(kind->get<std::string>());
  if (!known) return std::nullopt;
  RetentionPolicy policy{name, *known, type->get<std::string>(), std::chrono::seconds(keep->get<std::int64_t>()),
                         false};
  policy.uncovered = uncovered != read.end() && uncovered->is_boolean() && uncovered->get<bool>();
  return policy;
}

}  // namespace evershard::cluster
