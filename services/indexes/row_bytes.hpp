// Keys and states of projections, byte by byte.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::actors {

/// 8 bytes whose order is that of the numbers.
inline void append_big_endian(std::string& out, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift);
}
[[nodiscard]] inline std::string big_endian(std::uint64_t number) {
  std::string out;
  append_big_endian(out, number);
  return out;
}
/// Shape: at least 8 bytes.
[[nodiscard]] inline std::uint64_t read_big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

[[nodiscard]] inline std::string write_counts(std::initializer_list<std::uint64_t> counts) {
  std::string out;
  for (const auto count : counts) storage::append_varint(out, count);
  return out;
}
/// Shape: no bytes are all zero. Errors: corruption
[[nodiscard]] inline Result<std::vector<std::uint64_t>> read_counts(std::string_view bytes, std::size_t how_many) {
  std::vector<std::uint64_t> counts;
  if (bytes.empty()) return std::vector<std::uint64_t>(how_many, 0);
  const auto* at = bytes.data();
  const auto* const end = at + bytes.size();
  while (at != nullptr && at != end && counts.size() < how_many)
    at = storage::get_varint(at, end, counts.emplace_back());
  if (at != end || counts.size() != how_many)
    return refuse(ErrorCode::corruption, "the state of a projection cannot be read");
  return counts;
}

}  // namespace evershard::actors
