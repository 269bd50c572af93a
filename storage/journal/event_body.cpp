#include "evershard/storage/journal/event_body.hpp"

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/storage/journal/stored_id.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {
namespace {

enum BodyFlag : std::uint8_t {
  has_aggregate = 1,
  has_tags = 2,
  has_also = 4,
  has_metadata = 8,
  has_content_hash = 16,
  has_request = 32,
  has_command = 64,
  unknown_body_flags = 128,
};

// One byte says how long these are.
static_assert(aggregate_type_bytes_max <= 255 && event_type_bytes_max <= 255 && tag_bytes_max <= 255 &&
              command_id_bytes_max <= 255);

std::size_t sized(std::string_view bytes) { return varint_size(bytes.size()) + bytes.size(); }

std::size_t tags_size(const BodyParts& parts) {
  std::size_t size = parts.tags_bytes.size();
  for (const Tag& tag : parts.tags) size += 1 + tag.size();
  return size;
}

std::size_t aggregate_size(std::string_view type, std::string_view value) { return 1 + type.size() + sized(value); }

std::size_t also_size(const BodyParts& parts) {
  std::size_t size = parts.also_bytes.size();
  for (const AggregateId& aggregate : parts.also) size += aggregate_size(aggregate.type, aggregate.value);
  return size;
}

char* put_short(char* at, std::string_view bytes) {
  EVERSHARD_CHECK(bytes.size() <= 255, "a name was checked before it is encoded");
  *at++ = static_cast<char>(bytes.size());
  return put_bytes(at, bytes);
}

char* put_sized(char* at, std::string_view bytes) { return put_bytes(put_varint(at, bytes.size()), bytes); }

std::string_view take_short(ByteReader& reader) { return reader.bytes(reader.fixed<std::uint8_t>()); }
std::string_view take_sized(ByteReader& reader) { return reader.bytes(reader.varint()); }

std::uint8_t flags_of(const BodyParts& parts) {
  unsigned flags = 0;
  if (!parts.aggregate_type.empty()) flags |= has_aggregate;
  if (!parts.tags.empty() || !parts.tags_bytes.empty()) flags |= has_tags;
  if (!parts.also.empty() || !parts.also_bytes.empty()) flags |= has_also;
  if (parts.metadata) flags |= has_metadata;
  if (parts.content_hash) flags |= has_content_hash;
  if (parts.request) flags |= has_request;
  if (parts.command_id) flags |= has_command;
  return static_cast<std::uint8_t>(flags);
}

}  // namespace

std::size_t body_size(const BodyParts& parts) {
  std::size_t size = content_hash_at + varint_size(parts.index) + varint_size(parts.count);
  if (parts.content_hash) size += sizeof *parts.content_hash;
  if (parts.request) size += parts.request->bytes.size();
  if (parts.command_id) size += 1 + parts.command_id->size() + sized(parts.reply);
  if (!parts.aggregate_type.empty()) size += aggregate_size(parts.aggregate_type, parts.aggregate_value);
  size += 1 + parts.type.size();
  if (const std::size_t tags = tags_size(parts); tags > 0) size += varint_size(tags) + tags;
  if (const std::size_t also = also_size(parts); also > 0) size += varint_size(also) + also;
  size += varint_size(static_cast<std::uint32_t>(parts.format));
  if (parts.metadata) size += sized(*parts.metadata);
  return size + parts.payload.size();
}

WrittenBody write_body(const BodyParts& parts, char* at) {
  const std::uint8_t flags = flags_of(parts);
  at = put_id(at, parts.id);
  at = put_fixed(at, flags);
  at = put_fixed(at, parts.occurred_at.micros);
  if (parts.content_hash) at = put_fixed(at, *parts.content_hash);
  at = put_varint(at, parts.index);
  at = put_varint(at, parts.count);
  if (parts.request) at = put_id(at, *parts.request);
  if (parts.command_id) at = put_sized(put_short(at, *parts.command_id), parts.reply);

  char* const content = at;
  if (flags & has_aggregate) at = put_sized(put_short(at, parts.aggregate_type), parts.aggregate_value);
  at = put_short(at, parts.type);
  if (flags & has_tags) {
    at = put_varint(at, tags_size(parts));
    for (const Tag& tag : parts.tags) at = put_short(at, tag);
    at = put_bytes(at, parts.tags_bytes);
  }
  if (flags & has_also) {
    at = put_varint(at, also_size(parts));
    for (const AggregateId& aggregate : parts.also) at = put_sized(put_short(at, aggregate.type), aggregate.value);
    at = put_bytes(at, parts.also_bytes);
  }
  at = put_varint(at, static_cast<std::uint32_t>(parts.format));
  if (flags & has_metadata) at = put_sized(at, *parts.metadata);
  return {content, put_bytes(at, parts.payload)};
}

bool parse_body(std::string_view body, EventView& out) {
  constexpr std::uint64_t u32_max = std::numeric_limits<std::uint32_t>::max();
  ByteReader reader(body);
  out.id = take_id(reader);
  const auto flags = reader.fixed<std::uint8_t>();
  if (flags & unknown_body_flags) return false;
  out.occurred_at.micros = reader.fixed<std::int64_t>();
  if (flags & has_content_hash) out.content_hash = reader.fixed<std::uint64_t>();
  out.index = static_cast<std::uint32_t>(reader.varint(u32_max));
  out.count = static_cast<std::uint32_t>(reader.varint(u32_max));
  if (flags & has_request) out.request = take_id(reader);
  if (flags & has_command) {
    out.command_id = take_short(reader);
    out.reply = take_sized(reader);
  }
  if (flags & has_aggregate) {
    out.aggregate_type = take_short(reader);
    out.aggregate_value = take_sized(reader);
  }
  out.type = take_short(reader);
  if (flags & has_tags) out.tags_bytes = take_sized(reader);
  if (flags & has_also) out.also_bytes = take_sized(reader);
  out.format = static_cast<PayloadFormat>(reader.varint(u32_max));
  if (flags & has_metadata) out.metadata = take_sized(reader);
  out.payload = reader.rest();
  return reader.ok() && out.index < out.count;
}

}  // namespace evershard::storage
