// Quantities: durations and sizes as people write them. Flags, settings and files read and print them here.

#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard {

/// What a number without a unit means. 0 is 0 in every unit.
enum class BareNumber : std::uint8_t { refused, milliseconds, seconds };

struct DurationRule {
  BareNumber bare = BareNumber::refused;
  std::chrono::milliseconds least{0};
  std::chrono::milliseconds most = std::chrono::milliseconds::max();
  std::chrono::milliseconds step{1};  ///< the value is a multiple of it
};

struct SizeRule {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::int64_t>::max();
};

/// A whole number and one of `ms`, `s`, `min` (or `m`), `h`, `d`. `name` is whose value it is: it begins the error.
///
/// Errors: invalid_argument: what it must be, and what it is
[[nodiscard]] Result<std::chrono::milliseconds> duration_from(std::string_view text, std::string_view name,
                                                              const DurationRule& rule = {});
/// A whole number of bytes, or with one of `B`, `KiB`, `MiB`, `GiB`, `TiB` (1024 each), `KB`, `MB`, `GB`, `TB` (1000
/// each).
///
/// Errors: invalid_argument: what it must be, and what it is
[[nodiscard]] Result<std::uint64_t> size_from(std::string_view text, std::string_view name, const SizeRule& rule = {});

/// Exact, in the largest unit that gives a whole number: 90s, 2min, 1d. It is read back as the same value. Not of a
/// negative one.
[[nodiscard]] std::string text_of_duration(std::chrono::milliseconds duration);
/// Exact, in the largest unit of 1024s that gives a whole number: 64KiB, 16MiB. It is read back as the same value.
[[nodiscard]] std::string text_of_size(std::uint64_t bytes);
/// For people, with one digit behind the point: 1536 as 1.5KiB.
[[nodiscard]] std::string rounded_size(std::uint64_t bytes);

}  // namespace evershard
