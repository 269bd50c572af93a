#include "evershard/doors/umadb/words/uma_names.hpp"

#include <algorithm>
#include <array>

namespace evershard::umadb {
namespace {

constexpr std::array<std::uint8_t, 4> none_mark{'u', 'm', 'a', 0xdb};
constexpr std::uint8_t version_8 = 0x80;

}  // namespace

bool is_own_tag(std::string_view tag) {
  return tag.starts_with("evershard-") && (tag.starts_with(tracking_tag) || tag.starts_with(import_tag));
}

bool is_own_key(std::string_view key) {
  return key.starts_with("evershard-") &&
         (key == tracking_position_key || key == import_position_key || key == tag_order_key || key == uuid_key);
}

EventId id_of_none() {
  auto id = EventId::random();
  std::copy(none_mark.begin(), none_mark.end(), id.bytes.begin());
  id.bytes[6] = static_cast<std::uint8_t>(version_8 | (id.bytes[6] & 0x0f));
  return id;
}

bool is_id_of_none(const EventId& id) {
  return (id.bytes[6] & 0xf0) == version_8 && std::equal(none_mark.begin(), none_mark.end(), id.bytes.begin());
}

}  // namespace evershard::umadb
