// AggregateId: {type, value}; its text form `type-value` is split at the first '-'.

#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "tl/expected.hpp"

namespace evershard {

struct Error;

/// Which aggregate. Case matters. The type contains no '-', neither part is empty, both are UTF-8 without NUL.
/// Shape: type at most 128 bytes, value at most 512.
struct AggregateId {
  std::string type;
  std::string value;

  /// `type-value`. Source: docs/internals/ids.md, with test vectors.
  [[nodiscard]] std::string text() const;
  /// Errors: invalid_argument, too_large
  [[nodiscard]] static tl::expected<AggregateId, Error> parse(std::string_view text);
  /// Checks the parts, however they got there. Errors: invalid_argument, too_large
  [[nodiscard]] static tl::expected<void, Error> check(const AggregateId& id);

  friend auto operator<=>(const AggregateId&, const AggregateId&) = default;
  friend bool operator==(const AggregateId&, const AggregateId&) = default;
};

}  // namespace evershard

template <>
struct std::hash<evershard::AggregateId> {
  std::size_t operator()(const evershard::AggregateId& id) const noexcept {
    return std::hash<std::string>{}(id.type) * 31 + std::hash<std::string>{}(id.value);
  }
};
