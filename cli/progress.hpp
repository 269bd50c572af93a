// Progress: how far long work is, with rate and time left; on a terminal only.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "evershard/cli/terminal.hpp"

namespace evershard::cli {

/// One line on standard error, rewritten at most ten times a second and cleared at the end. One thread at a time.
class ProgressLine {
 public:
  enum class Unit : std::uint8_t { items, bytes };
  ProgressLine(const Terminal& terminal, std::string what, Unit unit = Unit::items)
      : shown_(terminal.error), what_(std::move(what)), unit_(unit) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `total` 0: nobody knows.
  void show(std::uint64_t done, std::uint64_t total);
  void clear();
  /// The line, for `seconds` of work so far.
  [[nodiscard]] std::string text(std::uint64_t done, std::uint64_t total, double seconds) const;

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  bool dirty_ = false;
  std::string what_;
  Unit unit_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point last_{};
};

}  // namespace evershard::cli
