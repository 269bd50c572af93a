// An event's body: everything of it that is known before its place is. Written by prepare, read behind its checksum.
//
// Source: docs/internals/on-disk-format.md, "Journal".

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "evershard/protocol/event.hpp"
#include "evershard/storage/journal/records.hpp"

namespace evershard::storage {

/// What a body is made of. Borrows.
struct BodyParts {
  EventId id;
  Timestamp occurred_at;
  std::uint32_t index = 0;
  std::uint32_t count = 1;
  std::optional<std::uint64_t> content_hash{};  ///< at index 0
  std::optional<RequestId> request{};           ///< at index 0, if it is not the event's id
  std::optional<std::string_view> command_id{};
  std::string_view reply{};
  std::string_view aggregate_type{};  ///< empty: no aggregate
  std::string_view aggregate_value{};
  std::string_view type{};
  std::span<const Tag> tags{};
  std::string_view tags_bytes{};  ///< encoded already; instead of `tags`
  std::span<const AggregateId> also{};
  std::string_view also_bytes{};  ///< encoded already; instead of `also`
  PayloadFormat format = PayloadFormat::unspecified;
  std::optional<std::string_view> metadata{};
  std::string_view payload{};
};

/// Where the content hash stands in a body that has one: it is known when all bodies of the append are written.
inline constexpr std::size_t content_hash_at = 16 + 1 + 8;

std::size_t body_size(const BodyParts& parts);

struct WrittenBody {
  char* content;  ///< aggregate, type, tags, also, format, metadata, payload: what the content hash covers
  char* end;
};
/// Writes body_size() bytes.
WrittenBody write_body(const BodyParts& parts, char* at);

/// Fills all of `out` but state and seq_nr. Returns: whether the bytes are a body.
bool parse_body(std::string_view body, EventView& out);

}  // namespace evershard::storage
