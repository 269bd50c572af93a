#include "evershard/protocol/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace evershard {
namespace {

/// Bytes of the well-formed sequence that starts at `at`; 0: there is none.
std::size_t sequence_at(const unsigned char* at, std::size_t left) {
  const unsigned char lead = at[0];
  if (lead < 0x80) return 1;

  std::size_t size = 0;
  unsigned char low = 0x80, high = 0xBF;  // of the second byte: this is where overlong forms and surrogates are told
  if (lead >= 0xC2 && lead <= 0xDF) {
    size = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    size = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    size = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }

  if (left < size || at[1] < low || at[1] > high) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if (at[i] < 0x80 || at[i] > 0xBF) return 0;
  }
  return size;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto* end = at + bytes.size();
  while (at != end) {
    // Nearly everything is ASCII: eight bytes at a time.
    while (end - at >= 8) {
      std::uint64_t eight;
      std::memcpy(&eight, at, 8);
      if (eight & 0x8080808080808080u) break;
      at += 8;
    }
    if (at == end) break;
    const std::size_t size = sequence_at(at, static_cast<std::size_t>(end - at));
    if (size == 0) return false;
    at += size;
  }
  return true;
}

}  // namespace evershard
