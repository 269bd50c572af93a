#include "evershard/compat/import/kurrent_events.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/compat/kurrent/stream_metadata.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/sort_once_each.hpp"
#include "evershard/protocol/validate.hpp"

namespace evershard::cli {
namespace {

/// Streams of a server of theirs: those that are one, and those whose names begin so.
constexpr std::array<std::string_view, 14> server_streams{"$all",
                                                          "$et",
                                                          "$streams",
                                                          "$settings",
                                                          "$users",
                                                          "$scavenges",
                                                          "$stats",
                                                          "$scavengePoints",
                                                          "$policies",
                                                          "$epoch-information",
                                                          "$connectors",
                                                          "$telemetry",
                                                          "$users-password-notifications",
                                                          "$authorization-policy-settings"};
constexpr std::array<std::string_view, 14> server_beginnings{"$ce-",
                                                             "$et-",
                                                             "$bc-",
                                                             "$category-",
                                                             "$projections-",
                                                             "$persistentsubscription",
                                                             "$persistentSubscription",
                                                             "$stats-",
                                                             "$scavenges-",
                                                             "$mem-",
                                                             "$connectors",
                                                             "$user-",
                                                             "$policies-",
                                                             "$cc-"};

std::string_view value_in(const KurrentRecorded& from, const char* key) {
  const auto found = from.metadata().find(key);
  return found == from.metadata().end() ? std::string_view() : std::string_view(found->second);
}

Result<Timestamp> time_of(const KurrentRecorded& from) {
  const auto text = value_in(from, "created");
  std::int64_t ticks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ticks);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty())
    return Timestamp{ticks / kurrent::ticks_of_a_micro};
  return refuse(ErrorCode::invalid_argument, "its time of creation is " + in_quotes(text, 100) + ": no number");
}

bool is_tombstone(const KurrentRecorded& from) { return value_in(from, "type") == kurrent::stream_deleted_type; }

void add(std::string_view part, std::string& to) {
  const auto bytes = static_cast<std::uint32_t>(part.size());
  for (int shift = 0; shift < 32; shift += 8) to += static_cast<char>(bytes >> shift);
  to += part;
}

Result<Event> event_of(KurrentRecorded& from) {
  Event event;
  const auto id = kurrent::id_of(from.id());
  if (!id) return refuse(id.error());
  event.id = *id;
  auto aggregate = kurrent::aggregate_of(from.stream_identifier().stream_name());
  if (!aggregate) return refuse(std::move(aggregate).error());
  EVERSHARD_TRY(kurrent::check_writable(from.stream_identifier().stream_name(), *aggregate));
  event.aggregate = *std::move(aggregate);
  event.type = value_in(from, "type");
  if (is_own_type(event.type))
    return refuse(ErrorCode::permission_denied,
                  "its type " + in_quotes(event.type, 300) + " is one that only the store itself writes");
  if (value_in(from, "content-type") == kurrent::content_json) event.format = PayloadFormat::json;
  const auto time = time_of(from);
  if (!time) return refuse(time.error());
  event.occurred_at = *time;
  event.payload = std::move(*from.mutable_data());
  if (!from.custom_metadata().empty()) event.metadata = std::move(*from.mutable_custom_metadata());
  return event;
}

}  // namespace

bool is_of_server(std::string_view stream) {
  if (stream.size() > kurrent::metadata_mark.size() && stream.starts_with(kurrent::metadata_mark))
    stream.remove_prefix(kurrent::metadata_mark.size());
  if (!stream.starts_with('$')) return false;
  if (std::ranges::find(server_streams, stream) != server_streams.end()) return true;
  if (std::ranges::any_of(server_beginnings, [&](std::string_view begins) { return stream.starts_with(begins); }))
    return true;
  const auto aggregate = kurrent::aggregate_of(stream);
  return aggregate && is_own_aggregate(aggregate->type);
}

Result<ImportedEvent> KurrentEvents::take(KurrentRecorded& from) const {
  ImportedEvent taken;
  taken.content = content_of(from);
  if (!is_tombstone(from)) taken.revision = from.stream_revision();
  auto event = event_of(from);
  if (!event) return refuse(std::move(event).error());
  const bool has_id = event->id.given();
  if (!has_id) event->id.bytes.back() = 1;  // it gets another one where it is stored
  if (auto good = check(*event, Limits::most()); !good) {
    from.set_data(std::move(event->payload));
    from.set_custom_metadata(std::move(event->metadata).value_or(std::string()));
    return refuse(std::move(good).error());
  }
  if (!has_id) event->id = {};
  taken.event = *std::move(event);
  return taken;
}

std::string KurrentEvents::content_of(const KurrentRecorded& event) const {
  std::string content;
  const auto id = kurrent::id_of(event.id());
  const auto time = time_of(event);
  add(id ? id->text() : std::string(), content);
  add(event.stream_identifier().stream_name(), content);
  // Of the event that ends a stream older servers and newer ones have other numbers.
  add(renumber_ || is_tombstone(event) ? std::string() : std::to_string(event.stream_revision()), content);
  add(value_in(event, "type"), content);
  add(value_in(event, "content-type") == kurrent::content_json ? "json" : "", content);
  add(time ? std::to_string(time->micros) : std::string(), content);
  add(event.custom_metadata(), content);
  add(event.data(), content);
  return content;
}

std::string KurrentEvents::content_of(const RecordedEvent& event) const {
  if (event.state != EventState::live) return {};
  KurrentRecorded shown;
  kurrent::put_event(event, false, shown);
  return content_of(shown);
}

}  // namespace evershard::cli
