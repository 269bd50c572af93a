#include "evershard/compat/umadb/words/uma_pages.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace evershard::umadb {
namespace {

std::size_t bytes_of_varint(std::uint64_t value) {
  std::size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

std::size_t bytes_of_text(std::size_t bytes) { return 1 + bytes_of_varint(bytes) + bytes; }

char* write_varint(std::uint64_t value, char* to) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to++ = static_cast<char>(value);
  return to;
}

constexpr char number_mark(int field) { return static_cast<char>(field << 3); }
constexpr char text_mark(int field) { return static_cast<char>(field << 3 | 2); }

/// What a field of bytes begins with.
char* write_begin(int field, std::size_t bytes, char* to) {
  *to++ = text_mark(field);
  return write_varint(bytes, to);
}

char* write_text(int field, std::string_view text, char* to) {
  to = write_begin(field, text.size(), to);
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

std::size_t bytes_of_pair(const std::pair<std::string_view, std::string_view>& pair) {
  return bytes_of_text(pair.first.size()) + bytes_of_text(pair.second.size());
}

std::size_t bytes_of_event(const UmaEvent& event) {
  std::size_t bytes = bytes_of_text(event.type().size()) + bytes_of_text(event.data().size());
  for (const auto tag : event.tags()) bytes += bytes_of_text(tag.size());
  if (!event.uuid().empty()) bytes += bytes_of_text(event.uuid().size());
  for (const auto& pair : event.metadata()) bytes += bytes_of_text(bytes_of_pair(pair));
  return bytes;
}

char* write_event(const UmaEvent& event, char* to) {
  to = write_text(1, event.type(), to);
  for (const auto tag : event.tags()) to = write_text(2, tag, to);
  to = write_text(3, event.data(), to);
  if (!event.uuid().empty()) to = write_text(4, event.uuid(), to);
  for (const auto& pair : event.metadata()) {
    to = write_begin(5, bytes_of_pair(pair), to);
    to = write_text(1, pair.first, to);
    to = write_text(2, pair.second, to);
  }
  return to;
}

}  // namespace

void UmaResponse::add(const RecordedView& event) {
  shown_.show(event);
  const auto event_bytes = bytes_of_event(shown_);
  auto bytes = 1 + bytes_of_varint(shown_.position()) + bytes_of_text(event_bytes);
  std::size_t tracking_bytes = 0;
  if (const auto& tracking = shown_.tracking()) {
    tracking_bytes = bytes_of_text(tracking->first.size()) + 1 + bytes_of_varint(tracking->second);
    bytes += bytes_of_text(tracking_bytes);
  }
  const auto at = bytes_.size();
  if (const auto all = at + bytes_of_text(bytes); all > bytes_.capacity()) bytes_.reserve(2 * all);
  bytes_.resize(at + bytes_of_text(bytes));
  char* to = write_begin(1, bytes, bytes_.data() + at);
  *to++ = number_mark(1);
  to = write_varint(shown_.position(), to);
  to = write_event(shown_, write_begin(2, event_bytes, to));
  if (const auto& tracking = shown_.tracking()) {
    to = write_text(1, tracking->first, write_begin(3, tracking_bytes, to));
    *to++ = number_mark(2);
    write_varint(tracking->second, to);
  }
  ++events_;
  last_position_ = shown_.position();
}

std::string UmaResponse::take() {
  events_ = 0;
  std::string next;
  next.reserve(bytes_.size());  // mostly the next is as long
  return std::exchange(bytes_, std::move(next));
}

void put_head(std::uint64_t head, std::string& response) {
  const auto at = response.size();
  response.resize(at + 1 + bytes_of_varint(head));
  response[at] = number_mark(2);
  write_varint(head, response.data() + at + 1);
}

}  // namespace evershard::umadb
