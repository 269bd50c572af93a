#include "evershard/compat/kurrent/event_messages.hpp"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "evershard/compat/kurrent/stream_metadata.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"

namespace evershard::kurrent {
namespace {

constexpr std::size_t first_room = 64u << 10;

using Coded = google::protobuf::io::CodedOutputStream;

std::size_t varint_size(std::uint64_t value) { return Coded::VarintSize64(value); }
/// All fields of these messages have numbers below 16.
std::size_t number_size(std::uint64_t value) { return value == 0 ? 0 : 1 + varint_size(value); }
std::size_t text_size(std::size_t bytes) { return 1 + varint_size(bytes) + bytes; }
std::size_t text_size_if(std::size_t bytes) { return bytes == 0 ? 0 : text_size(bytes); }

char* put_varint(std::uint64_t value, char* to) {
  return reinterpret_cast<char*>(Coded::WriteVarint64ToArray(value, reinterpret_cast<std::uint8_t*>(to)));
}
char* put_number(int field, std::uint64_t value, char* to) {
  if (value == 0) return to;
  *to++ = static_cast<char>(field << 3);
  return put_varint(value, to);
}
char* put_length(int field, std::size_t bytes, char* to) {
  *to++ = static_cast<char>(field << 3 | 2);
  return put_varint(bytes, to);
}
char* put_bytes(std::string_view bytes, char* to) {
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}
char* put_text(int field, std::string_view text, char* to) {
  return put_bytes(text, put_length(field, text.size(), to));
}
char* put_text_if(int field, std::string_view text, char* to) { return text.empty() ? to : put_text(field, text, to); }

/// A stream's name in the parts that it is made of.
struct NameParts {
  std::string_view first{}, second{}, third{};
  [[nodiscard]] std::size_t size() const { return first.size() + second.size() + third.size(); }
};

NameParts name_parts_of(const RecordedView& event) {
  if (event.aggregate_type.empty()) return {no_stream_name};
  if (event.aggregate_type == plain_type) return {event.aggregate_value};
  if (event.aggregate_type == metadata_type) return {metadata_mark, event.aggregate_value};
  return {event.aggregate_type, "-", event.aggregate_value};
}

struct NumberText {
  std::array<char, 24> bytes;
  std::size_t size = 0;
  [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
};

NumberText text_of(std::int64_t number) {
  NumberText text;
  text.size = static_cast<std::size_t>(
      std::to_chars(text.bytes.data(), text.bytes.data() + text.bytes.size(), number).ptr - text.bytes.data());
  return text;
}

std::size_t entry_size(std::string_view key, std::string_view value) {
  return text_size(key.size()) + text_size(value.size());
}
char* put_entry(std::string_view key, std::string_view value, char* to) {
  to = put_length(6, entry_size(key, value), to);
  return put_text(2, value, put_text(1, key, to));
}

}  // namespace

void EventMessages::add(const RecordedView& event, bool structured_ids) {
  constexpr std::string_view type_key = "type", content_key = "content-type", created_key = "created";
  const auto id = shown_id(event);
  const auto most = structured_ids ? half_of(id, 0) : 0, least = structured_ids ? half_of(id, 8) : 0;
  const auto halves = number_size(most) + number_size(least);
  const auto id_text = id.characters();
  const auto id_bytes = structured_ids ? text_size(halves) : text_size(id_text.size());
  const auto name = name_parts_of(event);
  const auto name_bytes = text_size(name.size());
  const auto revision = revision_of(event);
  const auto position = event.position.value;
  const auto content = event.format == PayloadFormat::json ? content_json : content_bytes;
  const auto created = text_of(event.occurred_at.micros * ticks_of_a_micro);

  const auto recorded_bytes = text_size(id_bytes) + text_size(name_bytes) + number_size(revision) +
                              2 * number_size(position) + text_size(entry_size(type_key, event.type)) +
                              text_size(entry_size(content_key, content)) +
                              text_size(entry_size(created_key, created.view())) +
                              text_size_if(event.metadata_bytes().size()) + text_size_if(event.payload.size());
  const auto event_bytes = text_size(recorded_bytes) + 1 + varint_size(position);

  auto* to = room(text_size(event_bytes));
  to = put_length(1, recorded_bytes, put_length(1, event_bytes, to));
  to = put_length(1, id_bytes, to);
  if (structured_ids)
    to = put_number(2, least, put_number(1, most, put_length(1, halves, to)));
  else
    to = put_text(2, {id_text.data(), id_text.size()}, to);
  to = put_length(3, name.size(), put_length(2, name_bytes, to));
  to = put_bytes(name.third, put_bytes(name.second, put_bytes(name.first, to)));
  to = put_number(5, position, put_number(4, position, put_number(3, revision, to)));
  to = put_entry(type_key, event.type, to);
  to = put_entry(content_key, content, to);
  to = put_entry(created_key, created.view(), to);
  to = put_text_if(8, event.payload, put_text_if(7, event.metadata_bytes(), to));
  *to++ = static_cast<char>(3 << 3);  // a field of a oneof is written whatever its value
  put_varint(position, to);
  ends_.push_back(used_);
}

void EventMessages::add(const esp::ReadResp& message) {
  const auto bytes = message.ByteSizeLong();
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(room(bytes)));
  ends_.push_back(used_);
}

EventMessages::Piece EventMessages::take() {
  capacity_ = used_ = 0;
  return {std::exchange(memory_, nullptr), std::exchange(ends_, {})};
}

char* EventMessages::room(std::size_t bytes) {
  if (used_ + bytes > capacity_) {
    capacity_ = std::max({first_room, 2 * capacity_, used_ + bytes});
    auto more = std::make_unique_for_overwrite<char[]>(capacity_);
    if (used_ != 0) std::memcpy(more.get(), memory_.get(), used_);
    memory_ = std::move(more);
  }
  auto* const at = memory_.get() + used_;
  used_ += bytes;
  return at;
}

}  // namespace evershard::kurrent
