// Where a term occurs: its sealed rows up to the mark, then the tails.

#pragma once

#include <memory>

#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/index/posting_cursor.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/journal/view.hpp"

namespace evershard::storage {

/// The tail's part of a range: positions [tail's first, next tail's first or watermark].
PositionRange tail_range(const View& view, std::size_t tail, const PositionRange& range);

/// Opens nothing until it is asked, and no rows at all for a range above the mark.
std::unique_ptr<PostingSource> term_postings(const Rows& rows, const View& view, sharding::Term term, const Walk& walk);

/// Parts in the walk's order, each with a range of its own.
class PartedPostings final : public PostingSource {
 public:
  explicit PartedPostings(const Walk& walk) : walk_(walk) {}
  void add(const PositionRange& range, std::unique_ptr<PostingSource> part) {
    parts_.push_back({range, std::move(part)});
  }
  Result<void> fill(GlobalPosition from, std::vector<Posting>& block) override;

 private:
  struct Part {
    PositionRange range;
    std::unique_ptr<PostingSource> source;
  };
  Walk walk_;
  std::vector<Part> parts_;
  std::size_t at_ = 0;
};

}  // namespace evershard::storage
