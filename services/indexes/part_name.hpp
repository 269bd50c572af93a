// PartName: the parts of a table are definitions of their own, `orders~2` of `orders`.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/error.hpp"

namespace evershard::actors {

inline constexpr std::uint32_t table_parts_max = 64;

struct PartName {
  std::string table{};
  std::uint32_t part = 0;  ///< from 0
  friend bool operator==(const PartName&, const PartName&) = default;
};

/// `orders~2`: no name that users give, so that each part has an aggregate, a shard and a home of its own.
[[nodiscard]] std::string part_name(std::string_view table, std::uint32_t part);
/// Nothing: it is no part's. Only what part_name() makes is one.
[[nodiscard]] std::optional<PartName> parse_part_name(std::string_view name);

/// What is asked of a table in parts as if it lay in one: version_conflict, since who asks has not heard of its
/// definition yet.
[[nodiscard]] Error lies_in_parts(const std::string& table);
[[nodiscard]] bool says_that_it_lies_in_parts(const Error& error);

}  // namespace evershard::actors
