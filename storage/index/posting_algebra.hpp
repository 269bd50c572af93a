// Union and intersection of positions: a query's OR and AND.

#pragma once

#include <memory>
#include <vector>

#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/index/posting_cursor.hpp"

namespace evershard::storage {

/// Every position of any of them, once. Shape: two at least.
class UnionPostings final : public PostingSource {
 public:
  UnionPostings(std::vector<std::unique_ptr<PostingSource>> sources, const Walk& walk);
  Result<void> fill(GlobalPosition from, std::vector<Posting>& block) override;

 private:
  [[nodiscard]] bool later(std::size_t a, std::size_t b) const;
  void sift_down(std::size_t i);

  Walk walk_;
  std::vector<PostingCursor> cursors_;
  std::vector<std::size_t> heap_;  // of the valid ones, the next position on top
  BlockSize size_;
  GlobalPosition expected_;
};

/// The positions that all of them have (leapfrog), of one of some types where there are any.
///
/// A posting whose type is not known (0: it comes from a stream) passes: the record decides.
class IntersectionPostings final : public PostingSource {
 public:
  IntersectionPostings(std::vector<std::unique_ptr<PostingSource>> sources, std::vector<sharding::Term> types,
                       const Walk& walk);
  Result<void> fill(GlobalPosition from, std::vector<Posting>& block) override;

 private:
  Walk walk_;
  std::vector<PostingCursor> cursors_;
  std::vector<sharding::Term> types_;
  BlockSize size_;
  GlobalPosition expected_;
};

/// One source as it is, several as their union.
std::unique_ptr<PostingSource> union_of(std::vector<std::unique_ptr<PostingSource>> sources, const Walk& walk);

}  // namespace evershard::storage
