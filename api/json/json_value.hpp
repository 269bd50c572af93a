// JsonValue: JSON from outside, read strictly, with the path of every mistake; values keep their exact bytes.

#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard {

/// Whether the bytes are one JSON value, UTF-8, with nothing behind it. Deep nesting is harmless.
[[nodiscard]] bool is_json(std::string_view bytes);

/// One value in a checked text, as a view into it; children live no longer than their parents.
///
/// The text is checked once, as a whole; nothing is built from it, so that a payload goes through byte for byte:
/// numbers of any size, order of keys, repetitions.
class JsonValue {
 public:
  enum class Kind : std::uint8_t { object, array, string, number, boolean, null };
  using OnMember = std::function<Result<void>(std::string_view key, const JsonValue& value)>;
  using OnElement = std::function<Result<void>(const JsonValue& value)>;

  /// `name`: what stands before the path in errors ("--query"); empty: nothing.
  /// Errors: invalid_argument: not UTF-8, no JSON, cut short, something behind it
  [[nodiscard]] static Result<JsonValue> parse(std::string_view text, std::string_view name = {});

  [[nodiscard]] Kind kind() const;
  /// The exact bytes, without the white space around them.
  [[nodiscard]] std::string_view raw() const { return raw_; }
  /// `events[2].tags`
  [[nodiscard]] std::string path() const;

  // Errors of each: invalid_argument with the path and what stands there instead
  [[nodiscard]] Result<std::string> string() const;
  [[nodiscard]] Result<std::uint64_t> number() const;
  /// Refuses a key that comes twice.
  [[nodiscard]] Result<void> for_each_member(const OnMember& see) const;
  [[nodiscard]] Result<void> for_each_element(const OnElement& see) const;

  [[nodiscard]] Refused wrong(const std::string& what) const;
  [[nodiscard]] Refused unknown_key(std::string_view key, std::span<const std::string_view> known) const;
  [[nodiscard]] Refused unknown_key(std::string_view key, std::initializer_list<std::string_view> known) const {
    return unknown_key(key, std::span(known.begin(), known.size()));
  }

 private:
  JsonValue(std::string_view raw, const JsonValue* parent, std::string_view key, std::size_t index)
      : raw_(raw), parent_(parent), key_(key), index_(index) {}
  [[nodiscard]] Refused not_a(std::string_view wanted) const;

  std::string_view raw_;
  const JsonValue* parent_;
  std::string_view key_;  ///< in its parent, an object, as it stands in the text; of the root: its name
  std::size_t index_;     ///< in its parent, an array
};

}  // namespace evershard
