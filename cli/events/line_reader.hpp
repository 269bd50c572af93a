// LineReader: lines of a file or a pipe, of bounded length, in bounded memory.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard::cli {

/// JSON makes six bytes of one at worst; sixteen MiB of payload in base64 fit as well.
inline constexpr std::size_t line_bytes_max_default = 32u << 20;

class LineReader {
 public:
  enum class Kind : std::uint8_t { line, too_long, end, stopped };
  struct Line {
    Kind kind = Kind::end;
    std::uint64_t number = 0;  ///< from 1; empty lines count
    std::string_view text;     ///< without its end, LF or CRLF; until the next call
  };

  /// Borrows the descriptor. `stop` is asked while nothing comes, about every tenth of a second.
  LineReader(int descriptor, std::size_t line_bytes_max, std::function<bool()> stop)
      : descriptor_(descriptor), line_bytes_max_(line_bytes_max), stop_(std::move(stop)) {}

  /// The next line that is not blank; a too long one is skipped whole. A last line without an end is a line.
  /// Errors: io
  [[nodiscard]] Result<Line> next();
  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  enum class Filled : std::uint8_t { more, end, stopped };
  Result<Filled> fill();

  int descriptor_;
  std::size_t line_bytes_max_;
  std::function<bool()> stop_;
  std::string buffer_;
  std::size_t begin_ = 0;    ///< of the line that comes next, in the buffer
  std::size_t scanned_ = 0;  ///< up to here there is no end of line
  std::uint64_t number_ = 0;
  std::uint64_t bytes_read_ = 0;
  bool at_end_ = false;
};

}  // namespace evershard::cli
