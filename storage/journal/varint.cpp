#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {

const char* get_long_varint(const char* at, const char* end, std::uint64_t& value) {
  std::uint64_t result = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at == end) return nullptr;
    const std::uint64_t byte = static_cast<unsigned char>(*at++);
    result |= (byte & 0x7F) << shift;
    if (byte >= 0x80) continue;
    const bool too_large = shift == 63 && byte > 1;
    const bool has_shorter_form = byte == 0 && shift > 0;
    if (too_large || has_shorter_form) return nullptr;
    value = result;
    return at;
  }
  return nullptr;
}

}  // namespace evershard::storage
