// ZeroFrontier: which bytes of a log are written, which are zeros, and which are being filled with zeros. Plain
// arithmetic.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace evershard::storage {

/// The log is written from its beginning; zeros are put ahead of what is written, never onto it.
///
/// How far ahead depends on how much was written: a small log has none, a larger one as many as it has bytes, up to
/// `bytes_max`.
class ZeroFrontier {
 public:
  static constexpr std::uint64_t page_bytes = 4096;  ///< zeros begin and end with a page: a page has one writer
  static constexpr std::uint64_t steps = 16;         ///< so many fill the whole way ahead

  struct Range {
    std::uint64_t from = 0, until = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };

  /// Shape: bytes; 0: never any zeros.
  explicit ZeroFrontier(std::uint64_t bytes_max)
      : bytes_max_(bytes_max), step_(align(std::max<std::uint64_t>(bytes_max / steps, 1))) {}

  /// The writer wants to write so many bytes more. False: not yet, some of them are being filled.
  [[nodiscard]] bool write(std::uint64_t bytes) {
    if (filling_ && written_ + bytes > filling_->from) return false;
    written_ += bytes;
    zeros_until_ = std::max(zeros_until_, written_);
    return true;
  }
  /// What is to be filled now, from here on until filled() or give_up(). Nothing: there are enough.
  [[nodiscard]] std::optional<Range> fill() {
    if (filling_ || !wants_zeros()) return std::nullopt;
    const auto from = align(zeros_until_);
    return filling_ = Range{from, from + step_};
  }
  void filled() {
    zeros_until_ = filling_->until;
    filling_.reset();
    catching_up_ = zeros_until_ - written_ < ahead();
  }
  /// No more zeros: the disk is full, or fails. What was being filled may hold some.
  void give_up() {
    if (filling_) zeros_until_ = filling_->until;
    filling_.reset();
    bytes_max_ = 0;
  }

  /// Zeros are filled in one go once that has begun, and again when half of them are used.
  [[nodiscard]] bool wants_zeros() const {
    if (bytes_max_ == 0 || written_ < step_) return false;
    const auto there = zeros_until_ - written_;
    return there < ahead() / 2 || (catching_up_ && there < ahead());
  }
  [[nodiscard]] std::uint64_t written() const { return written_; }
  [[nodiscard]] bool ends_in_zeros() const { return filling_ || zeros_until_ > written_; }

 private:
  [[nodiscard]] static constexpr std::uint64_t align(std::uint64_t at) {
    return (at + page_bytes - 1) / page_bytes * page_bytes;
  }
  [[nodiscard]] std::uint64_t ahead() const { return std::min(written_, bytes_max_); }

  std::uint64_t bytes_max_;
  const std::uint64_t step_;
  std::uint64_t written_ = 0;
  std::uint64_t zeros_until_ = 0;  ///< from `written_` on; nothing of it is below that
  std::optional<Range> filling_;
  bool catching_up_ = false;
};

}  // namespace evershard::storage
