// Output: standard output or a file, buffered; knows when nobody reads any more.

#pragma once

#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard {

/// Write errors are kept until somebody asks: a closed pipe is no failure, a full disk is.
class Output {
 public:
  /// Borrows the descriptor.
  explicit Output(int descriptor) : descriptor_(descriptor) {}
  ~Output() { flush(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text);
  void flush();
  /// The reader went away: end quietly.
  [[nodiscard]] bool closed() const { return closed_; }
  /// Nothing more can be written, for whatever reason.
  [[nodiscard]] bool ended() const { return closed_ || error_ != 0; }
  /// Errors: io: a full disk and the like
  [[nodiscard]] Result<void> status() const;
  /// All of it was taken. Errors: io: as above, and that the reader went away
  [[nodiscard]] Result<void> whole() const;

 private:
  int descriptor_;
  int error_ = 0;
  bool closed_ = false;
  std::string buffer_;
};

}  // namespace evershard
