#include "evershard/compat/umadb/words/uma_names.hpp"

#include <algorithm>
#include <array>

namespace evershard::umadb {
namespace {

constexpr std::array<std::uint8_t, 3> mark{'u', 'm', 'a'};  // then 0xdb or 0xdc
constexpr std::uint8_t first_kind = 0xdb;
constexpr std::uint8_t version_8 = 0x80;

}  // namespace

bool is_own_tag(std::string_view tag) { return is_mark_tag(tag); }

bool is_own_key(std::string_view key) {
  return key.starts_with("evershard-") && (key == tracking_position_key || key == tag_order_key || key == uuid_key);
}

EventId id_of(NoId what) {
  auto id = EventId::random();
  std::copy(mark.begin(), mark.end(), id.bytes.begin());
  id.bytes[3] = static_cast<std::uint8_t>(first_kind + static_cast<std::uint8_t>(what));
  id.bytes[6] = static_cast<std::uint8_t>(version_8 | (id.bytes[6] & 0x0f));
  return id;
}

std::optional<NoId> no_id(const EventId& id) {
  if ((id.bytes[6] & 0xf0) != version_8 || !std::equal(mark.begin(), mark.end(), id.bytes.begin())) return std::nullopt;
  if (id.bytes[3] == first_kind) return NoId::none;
  if (id.bytes[3] == first_kind + 1) return NoId::nil;
  return std::nullopt;
}

}  // namespace evershard::umadb
