#include "evershard/compat/kurrent/proposed_events.hpp"

#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/protocol/event_codec.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard::kurrent {
namespace {

using event_codec::Field;
using event_codec::take_field;

bool read_proposed_id(std::string_view bytes, EventId& id) {
  Field field;
  if (!take_field(bytes, field) || !bytes.empty() || field.number != 2 || !field.is_bytes) return false;
  const auto parsed = EventId::parse(field.bytes);
  if (!parsed) return false;
  id = *parsed;
  return true;
}

/// Of what is said of the event, its type and whether it is JSON.
bool read_proposed_entry(std::string_view bytes, Event& event) {
  std::string_view key, value;
  for (Field field; !bytes.empty();) {
    if (!take_field(bytes, field) || !field.is_bytes || field.number > 2 || !is_utf8(field.bytes)) return false;
    (field.number == 1 ? key : value) = field.bytes;
  }
  if (key == "type") event.type = value;
  if (key == "content-type") event.format = value == content_json ? PayloadFormat::json : PayloadFormat::unspecified;
  return true;
}

}  // namespace

bool read_proposed(std::string_view bytes, Event& event) {
  bool has_id = false;
  for (Field field; !bytes.empty();) {
    if (!take_field(bytes, field) || !field.is_bytes) return false;
    switch (field.number) {
      case 1:
        if (has_id || !read_proposed_id(field.bytes, event.id)) return false;
        has_id = true;
        break;
      case 2:
        if (!read_proposed_entry(field.bytes, event)) return false;
        break;
      case 3:
        if (!field.bytes.empty()) event.metadata = field.bytes;
        break;
      case 4:
        event.payload = field.bytes;
        break;
      default:
        return false;
    }
  }
  return has_id;
}

bool split_proposed(std::string_view bytes, std::uint32_t number, std::string& rest, std::vector<Event>& events) {
  for (Field field; !bytes.empty();) {
    if (!take_field(bytes, field)) return false;
    if (field.number != number)
      rest += field.raw;
    else if (!field.is_bytes || !read_proposed(field.bytes, events.emplace_back()))
      return false;
  }
  return true;
}

}  // namespace evershard::kurrent
