#include "evershard/compat/umadb/words/uma_metadata.hpp"

#include <algorithm>

#include "evershard/api/json/json_value.hpp"
#include "evershard/compat/umadb/words/uma_names.hpp"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard::umadb {
namespace {

/// Takes `"text"` off the front. Returns: false: it is none, or has something to unescape or to check.
bool take_plain_text(std::string_view& from, std::string_view& text) {
  if (from.empty() || from.front() != '"') return false;
  for (std::size_t i = 1; i < from.size(); ++i) {
    const auto c = static_cast<unsigned char>(from[i]);
    if (c == '"') {
      text = from.substr(1, i - 1);
      from.remove_prefix(i + 1);
      return true;
    }
    if (c == '\\' || c < 0x20 || c >= 0x7f) return false;
  }
  return false;
}

bool take_mark(std::string_view& from, char mark) {
  if (from.empty() || from.front() != mark) return false;
  from.remove_prefix(1);
  return true;
}

}  // namespace

void UmaMetadata::clear() {
  pairs_.clear();
  kept_.clear();
  tracking_position_ = tag_order_ = uuid_ = {};
}

void UmaMetadata::read(std::string_view metadata) {
  clear();
  if (metadata.empty() || read_plain(metadata)) return;
  clear();
  if (read_object(metadata)) return;
  clear();
  pairs_.emplace_back(bare_metadata_key, is_utf8(metadata) ? metadata : keep(to_base64(metadata)));
}

void UmaMetadata::add(std::string_view key, std::string value) {
  if (std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& pair) { return pair.first == key; })) return;
  pairs_.emplace_back(key, keep(std::move(value)));
}

/// As UmaMetadataText writes it, of texts that need no escapes: most are, and nothing is built of them.
bool UmaMetadata::read_plain(std::string_view metadata) {
  constexpr std::size_t pairs_max = 32;  // beyond these, keys that come twice are looked for in another way
  if (!take_mark(metadata, '{')) return false;
  do {
    std::string_view key, value;
    if (!take_plain_text(metadata, key) || !take_mark(metadata, ':') || !take_plain_text(metadata, value)) return false;
    if (pairs_.size() == pairs_max) return false;
    if (std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& pair) { return pair.first == key; })) return false;
    take(key, value);
  } while (take_mark(metadata, ','));
  return metadata == "}";
}

bool UmaMetadata::read_object(std::string_view metadata) {
  const auto json = JsonValue::parse(metadata);
  if (!json || json->kind() != JsonValue::Kind::object) return false;
  const auto read = json->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (value.kind() != JsonValue::Kind::string) {
      pairs_.emplace_back(keep(std::string(key)), keep(json_on_one_line(value.raw())));
      return {};
    }
    auto text = value.string();
    if (!text) return refuse(std::move(text).error());
    take(keep(std::string(key)), keep(*std::move(text)));
    return {};
  });
  return read.has_value();
}

void UmaMetadata::take(std::string_view key, std::string_view value) {
  if (!is_own_key(key))
    pairs_.emplace_back(key, value);
  else if (key == tracking_position_key)
    tracking_position_ = value;
  else if (key == tag_order_key)
    tag_order_ = value;
  else
    uuid_ = value;
}

void UmaMetadataText::add(std::string_view key, std::string_view value) {
  if (json_.text().empty()) json_.begin_object();
  json_.key(key).string(value);
}

std::string UmaMetadataText::take() {
  if (json_.text().empty()) return {};
  json_.end_object();
  return json_.take();
}

}  // namespace evershard::umadb
