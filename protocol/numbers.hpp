// Numbers that must not be confused are types of their own.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace evershard {

/// An unsigned number with a meaning. Converts from and to its representation only when asked.
template <class Tag, class Rep>
struct Number {
  using rep = Rep;
  Rep value{};

  constexpr Number() = default;
  constexpr explicit Number(Rep v) : value(v) {}

  friend constexpr auto operator<=>(Number, Number) = default;
  constexpr Number& operator++() { return ++value, *this; }
  friend constexpr Number operator+(Number a, Rep n) { return Number(static_cast<Rep>(a.value + n)); }
  friend constexpr Number operator-(Number a, Rep n) { return Number(static_cast<Rep>(a.value - n)); }
  friend constexpr Rep operator-(Number a, Number b) { return static_cast<Rep>(a.value - b.value); }
};

/// An event's dense number in the global order, from 1; 0 = before everything.
using GlobalPosition = Number<struct GlobalPositionTag, std::uint64_t>;
/// An event's number in its shard, ascending, never used twice; from 1, 0 = before everything.
using ShardOffset = Number<struct ShardOffsetTag, std::uint64_t>;
/// An event's dense number in its aggregate's stream, from 1; an aggregate's version is its last one, 0 = absent.
using SeqNr = Number<struct SeqNrTag, std::uint64_t>;
using ShardId = Number<struct ShardIdTag, std::uint16_t>;
using Epoch = Number<struct EpochTag, std::uint64_t>;
using CutNumber = Number<struct CutNumberTag, std::uint64_t>;

}  // namespace evershard

template <class Tag, class Rep>
struct std::hash<evershard::Number<Tag, Rep>> {
  std::size_t operator()(evershard::Number<Tag, Rep> n) const noexcept { return std::hash<Rep>{}(n.value); }
};
