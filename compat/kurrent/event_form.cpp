#include "evershard/compat/kurrent/event_form.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "evershard/compat/kurrent/stream_metadata.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::kurrent {
namespace {

constexpr std::string_view renamed_tag = "kurrent-id:";

void put_half(std::uint64_t half, std::size_t from, EventId& id) {
  for (std::size_t i = 0; i < 8; ++i) id.bytes[from + i] = static_cast<std::uint8_t>(half >> (56 - 8 * i));
}

/// FNV-1a. Never to change: it is in ids.
std::uint32_t hash_of_name(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3ull;
  return static_cast<std::uint32_t>(hash ^ hash >> 32) | 0x8000'0000u;  // smaller ones are of requests without ids
}

template <class Map>
std::string_view value_in(const Map& map, const char* key) {
  const auto found = map.find(key);
  return found == map.end() ? std::string_view() : std::string_view(found->second);
}

std::uint64_t revision_shown(std::string_view type, bool of_aggregate, SeqNr seq_nr, GlobalPosition position) {
  if (type == stream_deleted_type) return std::numeric_limits<std::int64_t>::max();
  return of_aggregate ? seq_nr.value - 1 : position.value;
}

template <class Tags>
EventId id_shown(const Tags& tags, const EventId& stored) {
  for (const std::string_view tag : tags) {
    if (!tag.starts_with(renamed_tag)) continue;
    if (const auto id = EventId::parse(tag.substr(renamed_tag.size()))) return *id;
  }
  return stored;
}

}  // namespace

std::uint64_t half_of(const EventId& id, std::size_t from) {
  std::uint64_t half = 0;
  for (std::size_t i = 0; i < 8; ++i) half = half << 8 | id.bytes[from + i];
  return half;
}

Result<EventId> id_of(const es::UUID& from) {
  EventId id;
  if (from.value_case() == es::UUID::kStructured) {
    put_half(static_cast<std::uint64_t>(from.structured().most_significant_bits()), 0, id);
    put_half(static_cast<std::uint64_t>(from.structured().least_significant_bits()), 8, id);
    return id;
  }
  std::string text = from.string();
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  // .NET takes more forms than one: in braces or brackets, or without dashes.
  if (text.size() == 38 && ((text.front() == '{' && text.back() == '}') || (text.front() == '(' && text.back() == ')')))
    text = text.substr(1, 36);
  if (text.size() == 32 && text.find('-') == std::string::npos)
    for (const std::size_t dash : {8u, 13u, 18u, 23u}) text.insert(dash, 1, '-');
  if (const auto parsed = EventId::parse(text)) return *parsed;
  return refuse(ErrorCode::invalid_argument, in_quotes(from.string(), 100) + " is no UUID");
}

void put_id(const EventId& id, bool structured, es::UUID& to) {
  if (!structured) return to.set_string(id.text());
  to.mutable_structured()->set_most_significant_bits(static_cast<std::int64_t>(half_of(id, 0)));
  to.mutable_structured()->set_least_significant_bits(static_cast<std::int64_t>(half_of(id, 8)));
}

Result<void> accept_proposed(Event& event, const AggregateId& aggregate) {
  if (!event.id.given()) return refuse(ErrorCode::invalid_argument, "an event's id is all zero");
  event.aggregate = aggregate;
  return check_writable_type(event.type, aggregate);
}

template <class Proposed>
Result<Event> event_of(Proposed& proposed, const AggregateId& aggregate) {
  const auto id = id_of(proposed.id());
  if (!id) return refuse(id.error());
  Event event;
  event.id = *id;
  event.type = value_in(proposed.metadata(), "type");
  EVERSHARD_TRY(accept_proposed(event, aggregate));
  if (value_in(proposed.metadata(), "content-type") == content_json) event.format = PayloadFormat::json;
  event.payload = std::move(*proposed.mutable_data());
  // The protocol has no absent one: empty is none.
  if (!proposed.custom_metadata().empty()) event.metadata = std::move(*proposed.mutable_custom_metadata());
  return event;
}

template Result<Event> event_of(esp::AppendReq::ProposedMessage&, const AggregateId&);
template Result<Event> event_of(esp::BatchAppendReq::ProposedMessage&, const AggregateId&);

std::uint64_t revision_of(const RecordedEvent& event) {
  return revision_shown(event.type, event.aggregate.has_value(), event.seq_nr, event.position);
}

std::uint64_t revision_of(const RecordedView& event) {
  return revision_shown(event.type, !event.aggregate_type.empty(), event.seq_nr, event.position);
}

void rename_id(Event& event, std::string_view place) {
  event.tags.push_back(std::string(renamed_tag) + event.id.text());
  event.id = EventId::derived(
      event.id, hash_of_name((event.aggregate ? name_of(*event.aggregate) : std::string()).append(place)));
}

EventId shown_id(const RecordedEvent& event) { return id_shown(event.tags, event.id); }
EventId shown_id(const RecordedView& event) { return id_shown(event.tags, event.id); }

void put_event(const RecordedEvent& event, bool structured_ids, esp::ReadResp::ReadEvent::RecordedEvent& to) {
  put_id(shown_id(event), structured_ids, *to.mutable_id());
  to.mutable_stream_identifier()->set_stream_name(name_of(event));
  to.set_stream_revision(revision_of(event));
  to.set_prepare_position(event.position.value);
  to.set_commit_position(event.position.value);
  auto& metadata = *to.mutable_metadata();
  metadata["type"] = event.type;
  metadata["content-type"] = event.format == PayloadFormat::json ? content_json : content_bytes;
  metadata["created"] = std::to_string(event.occurred_at.micros * ticks_of_a_micro);
  to.set_custom_metadata(std::string(event.metadata_bytes()));
  to.set_data(event.payload);
}

Result<LinkTarget> target_of(std::string_view link) {
  LinkTarget target;
  const auto at = link.find('@');
  const auto* end = link.data() + std::min(at, link.size());
  const auto [last, error] = std::from_chars(link.data(), end, target.revision);
  if (at == std::string_view::npos || error != std::errc() || last != end || at + 1 == link.size())
    return refuse(ErrorCode::invalid_argument, in_quotes(std::string(link), 300) + " is no link: REVISION@STREAM");
  target.stream = link.substr(at + 1);
  return target;
}

}  // namespace evershard::kurrent
