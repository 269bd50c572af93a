#include "evershard/api/json/group_json.hpp"

#include <limits>

#include "evershard/api/json/query_json.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard {
namespace {

std::uint64_t count_of_ms(std::chrono::milliseconds time) { return static_cast<std::uint64_t>(time.count()); }

Result<void> read_small(const JsonValue& value, std::uint32_t& to) {
  const auto number = value.number();
  if (!number) return refuse(number.error());
  if (*number > std::numeric_limits<std::uint32_t>::max()) return value.wrong("is too great");
  to = static_cast<std::uint32_t>(*number);
  return {};
}

Result<void> read_ms(const JsonValue& value, std::chrono::milliseconds& to) {
  std::uint32_t ms = 0;
  EVERSHARD_TRY(read_small(value, ms));
  to = std::chrono::milliseconds(ms);
  return {};
}

template <class Name>
Result<void> read_choice(const JsonValue& value, std::optional<Name> (*find)(std::string_view), const char* choices,
                         Name& to) {
  const auto text = value.string();
  if (!text) return refuse(text.error());
  const auto found = find(*text);
  if (!found) return value.wrong(std::string("is ") + in_quotes(*text) + ", not " + choices);
  to = *found;
  return {};
}

}  // namespace

void write_group_settings(JsonText& json, const GroupSettings& settings) {
  json.key("order").string(name_of(settings.order)).key("after_parked").string(name_of(settings.after_parked));
  json.key("attempts_max")
      .number(settings.attempts_max)
      .key("retry_first_ms")
      .number(count_of_ms(settings.retry_first));
  json.key("retry_factor").number(settings.retry_factor).key("retry_most_ms").number(count_of_ms(settings.retry_most));
  json.key("retry_jitter_percent")
      .number(settings.retry_jitter_percent)
      .key("lease_ms")
      .number(count_of_ms(settings.lease));
  json.key("window").number(settings.window).key("parked_max").number(settings.parked_max);
}

Result<bool> read_group_setting(std::string_view key, const JsonValue& value, GroupSettings& settings) {
  if (key == "order")
    EVERSHARD_TRY(read_choice(value, group_order_of, "aggregate or global", settings.order));
  else if (key == "after_parked")
    EVERSHARD_TRY(read_choice(value, after_parked_of, "go_on or block", settings.after_parked));
  else if (key == "attempts_max")
    EVERSHARD_TRY(read_small(value, settings.attempts_max));
  else if (key == "retry_first_ms")
    EVERSHARD_TRY(read_ms(value, settings.retry_first));
  else if (key == "retry_factor")
    EVERSHARD_TRY(read_small(value, settings.retry_factor));
  else if (key == "retry_most_ms")
    EVERSHARD_TRY(read_ms(value, settings.retry_most));
  else if (key == "retry_jitter_percent")
    EVERSHARD_TRY(read_small(value, settings.retry_jitter_percent));
  else if (key == "lease_ms")
    EVERSHARD_TRY(read_ms(value, settings.lease));
  else if (key == "window")
    EVERSHARD_TRY(read_small(value, settings.window));
  else if (key == "parked_max")
    EVERSHARD_TRY(read_small(value, settings.parked_max));
  else
    return false;
  return true;
}

void write_group(JsonText& json, const GroupInfo& group) {
  json.begin_object().key("group").string(group.definition.name);
  json.key("position")
      .number(group.position.value)
      .key("read_to")
      .number(group.read_to.value)
      .key("head")
      .number(group.head.value)
      .key("lag")
      .number(group.lag());
  json.key("unsettled")
      .number(group.unsettled)
      .key("in_flight")
      .number(group.in_flight)
      .key("waiting")
      .number(group.waiting);
  json.key("parked").number(group.parked).key("parked_full").boolean(group.parked_full);
  json.key("acknowledged")
      .number(group.acknowledged)
      .key("rejected")
      .number(group.rejected)
      .key("expired")
      .number(group.expired);
  json.key("parked_ever")
      .number(group.parked_ever)
      .key("replayed")
      .number(group.replayed)
      .key("discarded")
      .number(group.discarded)
      .key("damaged")
      .number(group.damaged);
  json.key("workers").begin_array();
  for (const auto& worker : group.workers) {
    json.begin_object()
        .key("name")
        .string(worker.name)
        .key("worker")
        .number(worker.worker)
        .key("credit")
        .number(worker.credit);
    json.key("in_flight")
        .number(worker.in_flight)
        .key("lag")
        .number(worker.share)
        .key("oldest")
        .number(worker.oldest.value);
    json.key("acknowledged").number(worker.acknowledged).end_object();
  }
  json.end_array().key("after").number(group.definition.after.value_or(GlobalPosition{0}).value).key("query");
  write_query(json, group.definition.query);
  write_group_settings(json, group.definition.settings);
  json.key("trouble").string(group.trouble).end_object();
}

void write_parked_event(JsonText& json, const ParkedEvent& parked) {
  json.begin_object()
      .key("position")
      .number(parked.position.value)
      .key("attempts")
      .number(parked.attempts)
      .key("behind")
      .boolean(parked.behind);
  json.key("reason").string(parked.reason).key("parked_at").string(parked.parked_at.text());
  if (parked.aggregate) json.key("aggregate").string(parked.aggregate->text());
  json.key("type").string(parked.type).end_object();
}

void write_delivery(JsonText& json, const GroupDelivery& delivery, const PayloadTypes& types) {
  json.begin_object().key("delivery").number(delivery.delivery).key("attempt").number(delivery.attempt).key("event");
  write_event(json, delivery.event, types);
  json.end_object();
}

}  // namespace evershard
