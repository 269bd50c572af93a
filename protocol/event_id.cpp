#include "evershard/protocol/event_id.hpp"

#include <sys/random.h>
#include <xxhash.h>

#include <bit>
#include <cerrno>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/hex.hpp"

namespace evershard {
namespace {

/// xoshiro256++, by Blackman and Vigna: 256 bits of state, far cheaper than a system call an id.
class Generator {
 public:
  Generator() {
    std::size_t done = 0;
    while (done < sizeof state_) {
      const auto n = ::getrandom(reinterpret_cast<char*>(state_) + done, sizeof state_ - done, 0);
      if (n < 0 && errno == EINTR) continue;
      EVERSHARD_CHECK(n > 0, "the operating system gives no random bytes");
      done += static_cast<std::size_t>(n);
    }
    state_[0] |= 1;  // all zero is the one state it never leaves
  }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

 private:
  std::uint64_t state_[4];
};

/// RFC 9562: the version in the high half of byte 6, the variant 10 at the top of byte 8.
EventId with_version(EventId id, std::uint8_t version) {
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0F) | (version << 4));
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3F) | 0x80);
  return id;
}

constexpr bool is_hyphen_place(std::size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

}  // namespace

EventId EventId::random() {
  thread_local Generator generator;
  const std::uint64_t halves[2] = {generator.next(), generator.next()};
  EventId id;
  std::memcpy(id.bytes.data(), halves, sizeof halves);
  return with_version(id, 4);
}

EventId EventId::derived(const EventId& request, std::uint32_t index) {
  std::array<std::uint8_t, 20> input;
  std::memcpy(input.data(), request.bytes.data(), 16);
  for (int i = 0; i < 4; ++i) input[16 + i] = static_cast<std::uint8_t>(index >> (24 - 8 * i));

  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(input.data(), input.size()));
  EventId id;
  static_assert(sizeof hash.digest == sizeof id.bytes);
  std::memcpy(id.bytes.data(), hash.digest, sizeof hash.digest);
  return with_version(id, 8);
}

std::optional<EventId> EventId::parse(std::string_view text) {
  if (text.size() != text_size) return std::nullopt;
  EventId id;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text_size; ++i) {
    if (is_hyphen_place(i)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const int digit = value_of_hex(text[i]);
    if (digit < 0) return std::nullopt;
    auto& byte = id.bytes[digits / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | digit);
    ++digits;
  }
  return id;
}

EventId::Text EventId::characters() const {
  Text text;
  text.fill('-');
  std::size_t i = 0;
  for (const std::uint8_t byte : bytes) {
    if (is_hyphen_place(i)) ++i;
    text[i++] = hex_digits[byte >> 4];
    text[i++] = hex_digits[byte & 15];
  }
  return text;
}

std::string EventId::text() const {
  const auto text = characters();
  return {text.data(), text.size()};
}

}  // namespace evershard
