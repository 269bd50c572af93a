#include "evershard/storage/index/term_postings.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "evershard/storage/index/tail_index.hpp"
#include "evershard/storage/journal/keys.hpp"

namespace evershard::storage {
namespace {

using sharding::Term;

/// A term's chunks in the rows. A chunk holds what one sealed run has, so it lies wholly below a mark or above it;
/// entries are compared with the range all the same.
class SealedPostings final : public PostingSource {
 public:
  SealedPostings(const Rows& rows, Term term, const Walk& walk)
      : rows_(rows), term_(term), prefix_(keys::posting_prefix(term)), walk_(walk) {}

  Result<void> fill(GlobalPosition from, std::vector<Posting>& block) override {
    block.clear();
    if (cursor_ == nullptr) cursor_ = rows_.cursor(Family::postings, {.prefix = prefix_});
    // From behind the last chunk: mostly the next one is it. Only where it is not, the index is searched.
    bool look_again = false;
    if (on_chunk_) {
      look_again = from != expected_;
      walk_.forwards() ? cursor_->next() : cursor_->prev();
    } else {
      seek(from);
    }
    for (;;) {
      on_chunk_ = on_row();
      if (!on_chunk_) return cursor_->status();
      auto key = keys::decode_posting(cursor_->key());
      if (!key) return refuse(key.error());
      if (walk_.forwards() && key->first > walk_.range.last) return {};
      block.clear();
      EVERSHARD_TRY(decode_postings(cursor_->value(), block));
      if (block.empty()) return refuse(ErrorCode::corruption, "a chunk of postings is empty");
      expected_ = walk_.behind(walk_.forwards() ? block.back().position : block.front().position);
      trim(from, block);
      if (!block.empty()) return {};
      if (!walk_.forwards() && key->first < walk_.range.first) return {};
      if (look_again) {
        look_again = false;
        seek(from);
      } else {
        walk_.forwards() ? cursor_->next() : cursor_->prev();
      }
    }
  }

 private:
  [[nodiscard]] bool on_row() const { return cursor_->valid() && cursor_->key().starts_with(prefix_); }

  /// To the chunk that may hold `from`, or the next one.
  void seek(GlobalPosition from) {
    const std::string key = keys::posting(term_, from);
    if (walk_.forwards() && from.value <= 1) return cursor_->seek(key);
    cursor_->seek_for_prev(key);
    if (walk_.forwards() && !on_row()) cursor_->seek(key);
  }

  void trim(GlobalPosition from, std::vector<Posting>& block) const {
    const PositionRange wanted =
        walk_.forwards() ? PositionRange{from, walk_.range.last} : PositionRange{walk_.range.first, from};
    auto begin = std::lower_bound(block.begin(), block.end(), wanted.first,
                                  [](const Posting& p, GlobalPosition at) { return p.position < at; });
    auto end = std::upper_bound(begin, block.end(), wanted.last,
                                [](GlobalPosition at, const Posting& p) { return at < p.position; });
    block.erase(end, block.end());
    block.erase(block.begin(), begin);
    if (!walk_.forwards()) std::reverse(block.begin(), block.end());
  }

  const Rows& rows_;
  Term term_;
  std::string prefix_;
  Walk walk_;
  std::unique_ptr<RowCursor> cursor_;
  bool on_chunk_ = false;
  GlobalPosition expected_;
};

class TailPostings final : public PostingSource {
 public:
  TailPostings(const TailIndex& tail, Term term, const Walk& walk) : tail_(tail), term_(term), walk_(walk) {}

  Result<void> fill(GlobalPosition from, std::vector<Posting>& block) override {
    block.clear();
    const bool first = list_ == nullptr;
    if (first) {
      list_ = tail_.find_term(term_);
      if (list_ == nullptr) return {};
      until_ = list_->lower_bound(number(walk_.range.last + 1), list_->size());
      begin_ = list_->lower_bound(number(walk_.range.first), until_);
    }
    const bool follows = !first && from == expected_;
    if (!follows) at_ = list_->lower_bound(number(walk_.forwards() ? from : from + 1), until_);
    const std::size_t left = walk_.forwards() ? until_ - at_ : at_ - std::min(at_, begin_);
    const auto n = static_cast<std::uint32_t>(std::min(size_.next(follows), left));
    if (n == 0) return {};
    std::array<std::uint32_t, chunk_entries_max> numbers;
    list_->read(walk_.forwards() ? at_ : at_ - n, n, numbers.data());
    if (!walk_.forwards()) std::reverse(numbers.begin(), numbers.begin() + n);
    for (std::uint32_t i = 0; i < n; ++i) block.push_back(tail_.posting(numbers[i]));
    at_ = walk_.forwards() ? at_ + n : at_ - n;
    expected_ = walk_.behind(block.back().position);
    return {};
  }

 private:
  [[nodiscard]] std::uint32_t number(GlobalPosition p) const { return static_cast<std::uint32_t>(p - tail_.first()); }

  const TailIndex& tail_;
  Term term_;
  Walk walk_;
  const PositionList* list_ = nullptr;
  std::uint32_t begin_ = 0;
  std::uint32_t until_ = 0;
  std::uint32_t at_ = 0;  // forwards: the next one; backwards: the one behind the next
  BlockSize size_;
  GlobalPosition expected_;
};

}  // namespace

PositionRange tail_range(const View& view, std::size_t tail, const PositionRange& range) {
  const auto& tails = *view.tails;
  const GlobalPosition last =
      tail + 1 < tails.size() ? std::min(view.watermark, tails[tail + 1]->first() - 1) : view.watermark;
  return range.clipped(std::max(tails[tail]->first(), view.mark + 1), last);
}

Result<void> PartedPostings::fill(GlobalPosition from, std::vector<Posting>& block) {
  block.clear();
  for (; at_ < parts_.size(); ++at_) {
    Part& part = parts_[at_];
    const GlobalPosition begin = walk_.forwards() ? part.range.first : part.range.last;
    const GlobalPosition part_from = walk_.before(from, begin) ? begin : from;
    if (!part.range.contains(part_from)) continue;
    EVERSHARD_TRY(part.source->fill(part_from, block));
    if (!block.empty()) return {};
  }
  return {};
}

std::unique_ptr<PostingSource> term_postings(const Rows& rows, const View& view, Term term, const Walk& walk) {
  auto parts = std::make_unique<PartedPostings>(walk);
  auto add_sealed = [&] {
    const PositionRange range = walk.range.clipped(GlobalPosition{1}, view.mark);
    if (!range.empty()) parts->add(range, std::make_unique<SealedPostings>(rows, term, Walk{range, walk.direction}));
  };
  auto add_tail = [&](std::size_t i) {
    const PositionRange range = tail_range(view, i, walk.range);
    if (!range.empty()) {
      parts->add(range, std::make_unique<TailPostings>(*(*view.tails)[i], term, Walk{range, walk.direction}));
    }
  };
  const std::size_t tails = view.tails ? view.tails->size() : 0;
  if (walk.forwards()) add_sealed();
  for (std::size_t i = 0; i < tails; ++i) add_tail(walk.forwards() ? i : tails - 1 - i);
  if (!walk.forwards()) add_sealed();
  return parts;
}

}  // namespace evershard::storage
