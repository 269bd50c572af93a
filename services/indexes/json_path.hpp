// JsonPath: where in a JSON text a value stands; several of them taken out in one pass.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "evershard/protocol/result.hpp"

namespace evershard::actors {

/// `$`, `$.customer.name`, `$.items[0]`, `$['odd name']`: names, and numbers of array elements from 0.
struct JsonPath {
  using Step = std::variant<std::string, std::size_t>;
  std::vector<Step> steps;

  /// Shape:  at most 16 steps, 512 bytes; a name without quotes is of letters, digits, _ and -, not of digits alone,
  /// and UTF-8 beyond ASCII. Errors: invalid_argument with the byte; of `items.0.sku` and `/items/0/sku` with how it is
  /// written here
  [[nodiscard]] static Result<JsonPath> parse(std::string_view text);
  [[nodiscard]] std::string text() const;

  friend bool operator==(const JsonPath&, const JsonPath&) = default;
};

/// Found together: as many as a table has fields.
inline constexpr std::size_t json_paths_max = 64;

/// Checks that `json` is one JSON text, UTF-8, at most 512 deep, and notes where each path leads; of a key that is
/// there twice, the last.
///
/// Shape:   at most json_paths_max; a place in `found` a path.
/// Returns: false: it is no JSON. `found[i]` is the value's exact bytes, or nothing.
[[nodiscard]] bool find_paths(std::string_view json, std::span<const JsonPath* const> paths,
                              std::span<std::optional<std::string_view>> found);
[[nodiscard]] bool is_json_text(std::string_view bytes);

/// What a JSON string says; half of a surrogate pair, as JavaScript writes it of a text that was cut, is U+FFFD. Shape:
/// `raw` was found by find_paths, and begins with a quotation mark.
[[nodiscard]] std::string unescaped(std::string_view raw);
/// The same for a whole JSON text that another parser is to read. Returns: nothing: the text has no half of a surrogate
/// pair
[[nodiscard]] std::optional<std::string> without_half_surrogates(std::string_view json);

/// Quoted and escaped.
void append_json_quoted(std::string& out, std::string_view text);

}  // namespace evershard::actors
