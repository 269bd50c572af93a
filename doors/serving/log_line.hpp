// Log lines: how a fact is written, and which of many alike are left out. No clock, no file.

#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "evershard/protocol/timestamp.hpp"

namespace evershard::serving {

enum class LogLevel : std::uint8_t { debug, info, warning, error };

[[nodiscard]] std::string_view name_of(LogLevel level);

/// Never a token, a payload or a key: what is logged may be read by whoever reads logs.
struct LogField {
  std::string_view key;
  std::string value;
  bool bare = false;  ///< a number, true or false

  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  LogField(std::string_view k, Number v) : key(k), bare(true) {
    if constexpr (std::is_same_v<Number, bool>)
      value = v ? "true" : "false";
    else
      value = std::to_string(v);
  }
};

using LogFields = std::vector<LogField>;

/// `2026-01-31T12:00:00.000000Z info  store opened data=shop shards=16`; a value with blanks, quotes or anything that
/// is not printable is quoted and escaped, so that a fact is always one line. Absent time: the reader writes its own.
[[nodiscard]] std::string log_text(std::optional<Timestamp> at, LogLevel level, std::string_view what,
                                   const LogFields& fields);
/// `{"at":...,"level":...,"what":...,"shards":16,...}`
[[nodiscard]] std::string log_json(Timestamp at, LogLevel level, std::string_view what, const LogFields& fields);

/// Of many lines of a kind, the first few of every while.
class Repeats {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint32_t lines_max = 20;  ///< of a kind, in a while
  static constexpr std::chrono::seconds a_while{10};
  static constexpr std::size_t kinds_max = 1'024;

  /// How many lines of the kind were left out since the last one that was written; absent: this line is left out too.
  [[nodiscard]] std::optional<std::uint64_t> admit(std::string_view kind, Clock::time_point now);
  /// What was left out and never said, by kind.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> unsaid() const;

 private:
  struct Seen {
    Clock::time_point since;
    std::uint32_t lines = 0;
    std::uint64_t left_out = 0;
  };
  std::map<std::string, Seen, std::less<>> kinds_;
};

}  // namespace evershard::serving
