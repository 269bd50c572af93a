// Target: a request's path and parameters, decoded; and parameters as values.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::http {

/// What stands behind the question mark, in order. Keys may repeat; whoever reads a value says whether it may.
class Parameters {
 public:
  void add(std::string name, std::string value) { all_.emplace_back(std::move(name), std::move(value)); }
  [[nodiscard]] bool has(std::string_view name) const { return !values(name).empty(); }
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const;

  // Errors of each: invalid_argument, with the parameter's name
  [[nodiscard]] Result<void> only(std::span<const std::string_view> known) const;
  [[nodiscard]] Result<void> only(std::initializer_list<std::string_view> known) const {
    return only(std::span(known.begin(), known.size()));
  }
  [[nodiscard]] Result<std::optional<std::string>> text(std::string_view name) const;
  [[nodiscard]] Result<std::optional<std::uint64_t>> number(std::string_view name) const;
  [[nodiscard]] Result<std::optional<GlobalPosition>> position(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

/// `/api/v1/aggregates/order-1%2F2/events?limit=5`: split at `/` first, then every segment is decoded, so that an id
/// may hold a `/`.
struct Target {
  std::vector<std::string> segments;  ///< of `/`: none
  Parameters parameters;
};

/// Shape:  %XX anywhere, `+` is a space in parameters; UTF-8 without NUL comes out.
/// Errors: invalid_argument
[[nodiscard]] Result<Target> read_target(std::string_view target);

/// All of it digits, no more than 2^64 - 1. `name`: for the error. Errors: invalid_argument
[[nodiscard]] Result<std::uint64_t> read_number(std::string_view text, std::string_view name);

}  // namespace evershard::http
