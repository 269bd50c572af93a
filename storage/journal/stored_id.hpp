// An EventId in stored values: its 16 bytes as they are.

#pragma once

#include "evershard/protocol/event_id.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {

/// Returns: behind the last byte.
inline char* put_id(char* at, const EventId& id) {
  std::memcpy(at, id.bytes.data(), id.bytes.size());
  return at + id.bytes.size();
}

inline void append_id(std::string& out, const EventId& id) {
  out.append(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
}

/// Where the reader has too few bytes: none given, and it is not ok() any more.
inline EventId take_id(ByteReader& reader) {
  EventId id;
  const std::string_view bytes = reader.bytes(id.bytes.size());
  if (!bytes.empty()) std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
  return id;
}

}  // namespace evershard::storage
