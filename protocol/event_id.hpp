// EventId: a UUID, unique in its shard.

#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace evershard {

/// 16 bytes; text form 8-4-4-4-12 in lower-case hex. All zero = not given.
struct EventId {
  static constexpr std::size_t text_size = 36;
  using Text = std::array<char, text_size>;

  std::array<std::uint8_t, 16> bytes{};

  /// A random one (version 4), from a per-thread generator seeded by the operating system.
  static EventId random();
  /// The id of the n-th event of a request that names itself and not its events: the same every time.
  static EventId derived(const EventId& request, std::uint32_t index);
  static std::optional<EventId> parse(std::string_view text);

  [[nodiscard]] std::string text() const;
  /// The same for who writes it elsewhere, without an allocation.
  [[nodiscard]] Text characters() const;
  [[nodiscard]] bool given() const { return *this != EventId{}; }

  friend auto operator<=>(const EventId&, const EventId&) = default;
  friend bool operator==(const EventId&, const EventId&) = default;
};

/// Names an append for retries; same shape as an event id.
using RequestId = EventId;

}  // namespace evershard

template <>
struct std::hash<evershard::EventId> {
  std::size_t operator()(const evershard::EventId& id) const noexcept {
    std::uint64_t a, b;
    std::memcpy(&a, id.bytes.data(), 8);
    std::memcpy(&b, id.bytes.data() + 8, 8);
    return a ^ (b * 0x9E3779B97F4A7C15ull);
  }
};
