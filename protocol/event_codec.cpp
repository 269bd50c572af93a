#include "evershard/protocol/event_codec.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "evershard/protocol/result.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard::event_codec {
namespace {

/// Numbers of the fields that both messages have. Source: protocol/v1/event.proto
struct PartNumbers {
  std::uint32_t id, aggregate, type, tags, also, payload, format, metadata;
};
constexpr PartNumbers event_parts{1, 2, 3, 4, 5, 6, 7, 8};
constexpr PartNumbers recorded_parts{4, 5, 7, 8, 9, 10, 11, 12};

constexpr std::size_t varint_bytes(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}
constexpr std::size_t key_bytes(std::uint32_t field) { return varint_bytes(static_cast<std::uint64_t>(field) << 3); }

std::size_t bytes_of_text(std::uint32_t field, std::size_t size) {
  return key_bytes(field) + varint_bytes(size) + size;
}
std::size_t bytes_of_text_if(std::uint32_t field, std::size_t size) {
  return size == 0 ? 0 : bytes_of_text(field, size);
}
/// Type and value, wherever they lie.
using AggregateView = std::pair<std::string_view, std::string_view>;
AggregateView view_of(const AggregateId& id) { return {id.type, id.value}; }
AggregateView view_of(const AggregateView& id) { return id; }

std::size_t bytes_of(const AggregateView& id) {
  return bytes_of_text_if(1, id.first.size()) + bytes_of_text_if(2, id.second.size());
}

std::uint8_t* write_varint(std::uint64_t value, std::uint8_t* to) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<std::uint8_t>(value | 0x80);
  *to++ = static_cast<std::uint8_t>(value);
  return to;
}
std::uint8_t* write_length(std::uint32_t field, std::size_t size, std::uint8_t* to) {
  return write_varint(size, write_varint(static_cast<std::uint64_t>(field) << 3 | 2, to));
}
std::uint8_t* write_text(std::uint32_t field, std::string_view text, std::uint8_t* to) {
  to = write_length(field, text.size(), to);
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}
std::uint8_t* write_text_if(std::uint32_t field, std::string_view text, std::uint8_t* to) {
  return text.empty() ? to : write_text(field, text, to);
}
std::uint8_t* write_aggregate(std::uint32_t field, const AggregateView& id, std::uint8_t* to) {
  return write_text_if(2, id.second, write_text_if(1, id.first, write_length(field, bytes_of(id), to)));
}
std::string_view view_of(const EventId& id) {
  return id.given() ? std::string_view(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size())
                    : std::string_view();
}

/// An erased one's has a field of its own: who does not know that refuses an event without a type.
std::string_view type_of(const Event& event) {
  return event.state == EventState::erased ? std::string_view() : std::string_view(event.type);
}
std::string_view erased_type_of(const Event& event) {
  return event.state == EventState::erased ? std::string_view(event.type) : std::string_view();
}
std::string_view type_of(const RecordedEvent& event) { return event.type; }
std::string_view type_of(const RecordedView& event) { return event.type; }

std::optional<AggregateView> aggregate_of(const RecordedView& event) {
  if (event.aggregate_type.empty()) return std::nullopt;
  return AggregateView(event.aggregate_type, event.aggregate_value);
}
template <class Value>
std::optional<AggregateView> aggregate_of(const Value& event) {
  if (!event.aggregate) return std::nullopt;
  return view_of(*event.aggregate);
}

template <class Value>
std::size_t bytes_of_parts(const PartNumbers& n, const Value& event) {
  std::size_t bytes = bytes_of_text_if(n.id, view_of(event.id).size()) +
                      bytes_of_text_if(n.type, type_of(event).size()) +
                      bytes_of_text_if(n.payload, event.payload.size()) +
                      bytes_of_number(n.format, static_cast<std::uint32_t>(event.format)) +
                      (event.metadata ? bytes_of_text(n.metadata, event.metadata->size()) : 0);
  if (const auto aggregate = aggregate_of(event)) bytes += bytes_of_text(n.aggregate, bytes_of(*aggregate));
  for (const auto& tag : event.tags) bytes += bytes_of_text(n.tags, tag.size());
  for (const auto& id : event.also) bytes += bytes_of_text(n.also, bytes_of(view_of(id)));
  return bytes;
}

/// From the type on: in both messages they follow each other in this order.
template <class Value>
std::uint8_t* write_parts(const PartNumbers& n, const Value& event, std::uint8_t* to) {
  to = write_text_if(n.type, type_of(event), to);
  for (const auto& tag : event.tags) to = write_text(n.tags, tag, to);
  for (const auto& id : event.also) to = write_aggregate(n.also, view_of(id), to);
  to = write_text_if(n.payload, event.payload, to);
  to = write_number(n.format, static_cast<std::uint32_t>(event.format), to);
  return event.metadata ? write_text(n.metadata, *event.metadata, to) : to;
}

constexpr std::uint64_t bits_of(std::int64_t value) { return static_cast<std::uint64_t>(value); }

std::size_t body_bytes(const Event& event) {
  return bytes_of_parts(event_parts, event) +
         (event.occurred_at ? key_bytes(9) + varint_bytes(bits_of(event.occurred_at->micros)) : 0) +
         bytes_of_text_if(10, event.subject.size()) + bytes_of_number(11, static_cast<std::uint8_t>(event.state)) +
         bytes_of_text_if(12, erased_type_of(event).size());
}

template <class Recorded>
std::size_t recorded_body_bytes(const Recorded& event) {
  return bytes_of_number(1, event.position.value) + bytes_of_number(2, event.shard.value) +
         bytes_of_number(3, event.offset.value) + bytes_of_parts(recorded_parts, event) +
         bytes_of_number(6, event.seq_nr.value) + bytes_of_number(13, bits_of(event.occurred_at.micros)) +
         bytes_of_number(14, static_cast<std::uint8_t>(event.state)) + bytes_of_number(15, event.append_index) +
         bytes_of_number(16, event.append_events == 1 ? 0 : event.append_events) +
         bytes_of_text_if(17, event.subject.size());
}

template <class Recorded>
std::uint8_t* write_recorded(std::uint32_t field, const Recorded& event, std::uint8_t* to) {
  to = write_length(field, recorded_body_bytes(event), to);
  to = write_number(1, event.position.value, to);
  to = write_number(2, event.shard.value, to);
  to = write_number(3, event.offset.value, to);
  to = write_text_if(recorded_parts.id, view_of(event.id), to);
  if (const auto aggregate = aggregate_of(event)) to = write_aggregate(recorded_parts.aggregate, *aggregate, to);
  to = write_number(6, event.seq_nr.value, to);
  to = write_parts(recorded_parts, event, to);
  to = write_number(13, bits_of(event.occurred_at.micros), to);
  to = write_number(14, static_cast<std::uint8_t>(event.state), to);
  to = write_number(15, event.append_index, to);
  to = write_number(16, event.append_events == 1 ? 0 : event.append_events, to);
  return write_text_if(17, event.subject, to);
}

// The generated code takes no key and no length of more bytes than 5, however small it is.
constexpr std::size_t number_bytes_max = 10;
constexpr std::size_t key_bytes_max = 5;

bool take_varint(std::string_view& from, std::uint64_t& value, std::size_t bytes_max = number_bytes_max) {
  value = 0;
  for (std::size_t i = 0; i < from.size() && i < bytes_max; ++i) {
    const auto byte = static_cast<std::uint8_t>(from[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    if (i == 9 && byte > 1) return false;
    from.remove_prefix(i + 1);
    return true;
  }
  return false;
}

bool read_text(const Field& field, std::string& to) {
  if (!field.is_bytes || !is_utf8(field.bytes)) return false;
  to.assign(field.bytes);
  return true;
}
bool read_bytes(const Field& field, std::string& to) {
  if (!field.is_bytes) return false;
  to.assign(field.bytes);
  return true;
}
template <class Number>
bool read_number(const Field& field, Number& to) {
  if (field.is_bytes || field.value > std::numeric_limits<Number>::max()) return false;
  to = static_cast<Number>(field.value);
  return true;
}
bool read_aggregate(const Field& field, AggregateId& to) {
  if (!field.is_bytes) return false;
  for (auto rest = field.bytes; !rest.empty();) {
    Field part;
    if (!take_field(rest, part) || part.number < 1 || part.number > 2 ||
        !read_text(part, part.number == 1 ? to.type : to.value))
      return false;
  }
  return AggregateId::check(to).has_value();
}

/// Whether the field is one of them; `good`: and as usual.
template <class Value>
bool read_part(const PartNumbers& n, const Field& field, Value& event, bool& good) {
  if (field.number == n.id) {
    good = field.is_bytes && field.bytes.size() == event.id.bytes.size();
    if (good) std::memcpy(event.id.bytes.data(), field.bytes.data(), field.bytes.size());
  } else if (field.number == n.aggregate) {
    good = !event.aggregate && read_aggregate(field, event.aggregate.emplace());
  } else if (field.number == n.type) {
    good = read_text(field, event.type);
  } else if (field.number == n.tags) {
    good = read_text(field, event.tags.emplace_back());
  } else if (field.number == n.also) {
    good = read_aggregate(field, event.also.emplace_back());
  } else if (field.number == n.payload) {
    good = read_bytes(field, event.payload);
  } else if (field.number == n.format) {
    std::uint32_t format = 0;
    good = read_number(field, format);
    event.format = PayloadFormat{format};
  } else if (field.number == n.metadata) {
    good = read_bytes(field, event.metadata.emplace());
  } else {
    return false;
  }
  return true;
}

bool read_time(const Field& field, Timestamp& to) {
  if (field.is_bytes) return false;
  to.micros = static_cast<std::int64_t>(field.value);
  return true;
}

}  // namespace

std::size_t bytes_of_number(std::uint32_t field, std::uint64_t value) {
  return value == 0 ? 0 : key_bytes(field) + varint_bytes(value);
}

std::uint8_t* write_number(std::uint32_t field, std::uint64_t value, std::uint8_t* to) {
  return value == 0 ? to : write_varint(value, write_varint(static_cast<std::uint64_t>(field) << 3, to));
}

std::size_t bytes_as_field(std::uint32_t field, const Event& event) { return bytes_of_text(field, body_bytes(event)); }
std::size_t bytes_as_field(std::uint32_t field, const RecordedEvent& event) {
  return bytes_of_text(field, recorded_body_bytes(event));
}
std::size_t bytes_as_field(std::uint32_t field, const RecordedView& event) {
  return bytes_of_text(field, recorded_body_bytes(event));
}

std::uint8_t* write_as_field(std::uint32_t field, const Event& event, std::uint8_t* to) {
  to = write_length(field, body_bytes(event), to);
  to = write_text_if(event_parts.id, view_of(event.id), to);
  if (event.aggregate) to = write_aggregate(event_parts.aggregate, view_of(*event.aggregate), to);
  to = write_parts(event_parts, event, to);
  if (event.occurred_at) to = write_varint(bits_of(event.occurred_at->micros), write_varint(9u << 3, to));
  to = write_text_if(10, event.subject, to);
  to = write_number(11, static_cast<std::uint8_t>(event.state), to);
  return write_text_if(12, erased_type_of(event), to);
}

std::uint8_t* write_as_field(std::uint32_t field, const RecordedEvent& event, std::uint8_t* to) {
  return write_recorded(field, event, to);
}
std::uint8_t* write_as_field(std::uint32_t field, const RecordedView& event, std::uint8_t* to) {
  return write_recorded(field, event, to);
}

bool take_field(std::string_view& from, Field& field) {
  const auto whole = from;
  std::uint64_t key = 0;
  if (!take_varint(from, key, key_bytes_max) || key >> 3 == 0 || key >> 3 > (1u << 29) - 1) return false;
  field.number = static_cast<std::uint32_t>(key >> 3);
  field.is_bytes = (key & 7) == 2;
  if (!take_varint(from, field.value, field.is_bytes ? key_bytes_max : number_bytes_max) ||
      ((key & 7) != 0 && !field.is_bytes))
    return false;
  if (field.is_bytes) {
    if (field.value > from.size()) return false;
    field.bytes = from.substr(0, field.value);
    from.remove_prefix(field.value);
  }
  field.raw = whole.substr(0, whole.size() - from.size());
  return true;
}

bool read(std::string_view bytes, Event& event) {
  while (!bytes.empty()) {
    Field field;
    bool good = false;
    if (!take_field(bytes, field)) return false;
    if (!read_part(event_parts, field, event, good)) {
      switch (field.number) {
        case 9:
          good = read_time(field, event.occurred_at.emplace());
          break;
        case 10:
          good = read_text(field, event.subject);
          break;
        default:
          break;  // of what comes from an export, and of newer callers: the generated code reads it
      }
    }
    if (!good) return false;
  }
  return true;
}

bool read(std::string_view bytes, RecordedEvent& event) {
  while (!bytes.empty()) {
    Field field;
    bool good = false;
    if (!take_field(bytes, field)) return false;
    if (!read_part(recorded_parts, field, event, good)) {
      switch (field.number) {
        case 1:
          good = read_number(field, event.position.value);
          break;
        case 2:
          good = read_number(field, event.shard.value);
          break;
        case 3:
          good = read_number(field, event.offset.value);
          break;
        case 6:
          good = read_number(field, event.seq_nr.value);
          break;
        case 13:
          good = read_time(field, event.occurred_at);
          break;
        case 14:
          good = !field.is_bytes && field.value <= static_cast<std::uint8_t>(EventState::erased);
          if (good) event.state = EventState{static_cast<std::uint8_t>(field.value)};
          break;
        case 15:
          good = read_number(field, event.append_index);
          break;
        case 16:
          good = read_number(field, event.append_events);
          event.append_events = std::max(event.append_events, 1u);
          break;
        case 17:
          good = read_text(field, event.subject);
          break;
        default:
          break;
      }
    }
    if (!good) return false;
  }
  return true;
}

}  // namespace evershard::event_codec
