// PostingCursor: positions in order, whatever they come from; PostingSource: what gives them, block by block.

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "evershard/protocol/read.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/chunks.hpp"

namespace evershard::storage {

/// [first, last], both inclusive: what a read is bounded by.
struct PositionRange {
  GlobalPosition first{1};
  GlobalPosition last{0};

  [[nodiscard]] bool empty() const { return first > last; }
  [[nodiscard]] bool contains(GlobalPosition p) const { return first <= p && p <= last; }
  [[nodiscard]] PositionRange clipped(GlobalPosition from, GlobalPosition to) const {
    return {first < from ? from : first, last > to ? to : last};
  }
};

/// What one walk over positions is: its range and direction. `before(a, b)`: a comes first.
struct Walk {
  PositionRange range;
  Direction direction = Direction::forwards;

  [[nodiscard]] bool forwards() const { return direction == Direction::forwards; }
  [[nodiscard]] bool before(GlobalPosition a, GlobalPosition b) const { return forwards() ? a < b : b < a; }
  [[nodiscard]] GlobalPosition begin() const { return forwards() ? range.first : range.last; }
  /// Shape: p >= 1.
  [[nodiscard]] GlobalPosition behind(GlobalPosition p) const { return forwards() ? p + 1 : p - 1; }
};

/// A set of positions: a term's, a stream's, or one computed of others.
class PostingSource {
 public:
  virtual ~PostingSource() = default;
  /// The next ones from `from` on, in the walk's direction and range: some, or none if there are none. Replaces
  /// `block`.
  ///
  /// Shape: `from` never goes back. A `from` just behind the last posting that was given is cheap. Errors: corruption,
  /// io
  virtual Result<void> fill(GlobalPosition from, std::vector<Posting>& block) = 0;
};

/// Walks a source. One thread.
class PostingCursor {
 public:
  PostingCursor(std::unique_ptr<PostingSource> source, const Walk& walk) : source_(std::move(source)), walk_(walk) {}

  [[nodiscard]] bool valid() const { return at_ < block_.size(); }
  [[nodiscard]] const Posting& get() const { return block_[at_]; }
  /// Errors: corruption, io; then it is not valid
  [[nodiscard]] const Result<void>& status() const { return status_; }

  void next() {
    if (++at_ == block_.size()) fill(walk_.behind(block_.back().position));
  }

  /// To the first one at or behind `position`, in the walk's direction; never back. Also starts the walk.
  void seek(GlobalPosition position) {
    if (valid()) {
      if (!walk_.before(block_[at_].position, position)) return;
      if (!walk_.before(block_.back().position, position)) return skip_in_block(position);
    } else if (started_) {
      return;
    }
    fill(position);
  }

  /// Up to `n` at once: those of the block, from this one on. They hold until the next move.
  [[nodiscard]] std::span<const Posting> rest_of_block() const { return std::span(block_).subspan(at_); }
  /// Shape: n is at most what rest_of_block() has, and not 0.
  void skip(std::size_t n) {
    at_ += n - 1;
    next();
  }

 private:
  void fill(GlobalPosition from) {
    started_ = true;
    at_ = 0;
    block_.clear();
    if (walk_.range.contains(from)) status_ = source_->fill(from, block_);
    if (!status_) block_.clear();
  }
  void skip_in_block(GlobalPosition position) {
    std::size_t step = 1;
    while (at_ + step < block_.size() && walk_.before(block_[at_ + step].position, position)) step *= 2;
    std::size_t low = at_ + step / 2, high = std::min(at_ + step, block_.size() - 1);
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (walk_.before(block_[middle].position, position)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    at_ = low;
  }

  std::unique_ptr<PostingSource> source_;
  Walk walk_;
  std::vector<Posting> block_;
  std::size_t at_ = 0;
  bool started_ = false;
  Result<void> status_{};
};

/// Blocks begin small, since most reads want little, and grow while one follows the other.
class BlockSize {
 public:
  [[nodiscard]] std::size_t next(bool follows) {
    size_ = follows ? std::min(size_ * 2, chunk_entries_max) : first;
    return size_;
  }

 private:
  static constexpr std::size_t first = 8;
  std::size_t size_ = first;
};

}  // namespace evershard::storage
