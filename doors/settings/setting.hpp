// Setting: one entry of a table of options: its names, kind, bounds and default.

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"

namespace evershard::settings {

enum class Kind : std::uint8_t {
  text,
  path,
  number,
  size,      ///< protocol/quantity.hpp: 4096, 64KiB, 128MiB, 1GB
  duration,  ///< protocol/quantity.hpp: 500ms, 30s, 5min, 2h, 90d; 0 needs no unit
  yes_no,
  choice,
  list,  ///< texts, separated by commas; `none`: no text
};

/// `block-cache` is the flag --block-cache, EVERSHARD_BLOCK_CACHE in the environment, and `block-cache` in a file.
struct Setting {
  std::string name;
  std::string group;
  Kind kind = Kind::text;
  std::string sentence;
  std::string by_default{};  ///< as text; empty: nothing
  std::uint64_t least = 0;   ///< of number, size (bytes), duration (milliseconds)
  std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> choices{};
  bool secret = false;      ///< shown as ***
  bool reloadable = false;  ///< SIGHUP takes a new value
};

/// What a text means for a setting.
struct Value {
  std::string text;          ///< as it is shown: 134217728 bytes are 128MiB
  std::uint64_t number = 0;  ///< of number, size (bytes), duration (milliseconds), yes_no (1, 0)
  std::vector<std::string> list{};
};

/// Errors: invalid_argument: what it must be, and what it is (of a secret: not what it is)
[[nodiscard]] Result<Value> value_of(const Setting& setting, std::string_view text);

/// Of number, size (bytes), duration (milliseconds).
[[nodiscard]] std::string text_of_figure(Kind kind, std::uint64_t number);
[[nodiscard]] std::string text_of_list(const std::vector<std::string>& list);

/// EVERSHARD_BLOCK_CACHE
[[nodiscard]] std::string environment_name(std::string_view name);
/// SIZE, DURATION, ..., for --help.
[[nodiscard]] std::string placeholder_of(const Setting& setting);

}  // namespace evershard::settings
