#define XXH_INLINE_ALL
#include "evershard/sharding/stream_hash.hpp"

#include <xxhash.h>

#include <array>
#include <cstring>
#include <string>

#include "evershard/protocol/limits.hpp"

namespace evershard::sharding {

std::uint64_t stream_hash(std::string_view aggregate_text) {
  return XXH64(aggregate_text.data(), aggregate_text.size(), 0);
}

std::uint64_t stream_hash(const AggregateId& aggregate) {
  std::array<char, aggregate_type_bytes_max + 1 + aggregate_value_bytes_max> text;
  const std::size_t size = aggregate.type.size() + 1 + aggregate.value.size();
  if (size > text.size())
    return stream_hash(aggregate.type + '-' + aggregate.value);  // longer than any that was checked
  std::memcpy(text.data(), aggregate.type.data(), aggregate.type.size());
  text[aggregate.type.size()] = '-';
  std::memcpy(text.data() + aggregate.type.size() + 1, aggregate.value.data(), aggregate.value.size());
  return stream_hash(std::string_view(text.data(), size));
}

std::uint64_t event_hash(const EventId& id) { return XXH64(id.bytes.data(), id.bytes.size(), 0); }

}  // namespace evershard::sharding
