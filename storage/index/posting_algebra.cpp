#include "evershard/storage/index/posting_algebra.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/check.hpp"
#include "evershard/storage/index/read_work.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t posting_units = 20;  ///< of spend(): a step of one list

std::vector<PostingCursor> cursors_of(std::vector<std::unique_ptr<PostingSource>> sources, const Walk& walk) {
  std::vector<PostingCursor> cursors;
  cursors.reserve(sources.size());
  for (auto& source : sources) cursors.emplace_back(std::move(source), walk);
  return cursors;
}

}  // namespace

UnionPostings::UnionPostings(std::vector<std::unique_ptr<PostingSource>> sources, const Walk& walk)
    : walk_(walk), cursors_(cursors_of(std::move(sources), walk)) {}

bool UnionPostings::later(std::size_t a, std::size_t b) const {
  return walk_.before(cursors_[b].get().position, cursors_[a].get().position);
}

void UnionPostings::sift_down(std::size_t i) {
  const std::size_t n = heap_.size(), moved = heap_[i];
  for (std::size_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && later(heap_[child], heap_[child + 1])) ++child;
    if (!later(moved, heap_[child])) break;
    heap_[i] = heap_[child];
  }
  heap_[i] = moved;
}

Result<void> UnionPostings::fill(GlobalPosition from, std::vector<Posting>& block) {
  block.clear();
  const bool follows = from == expected_;
  if (!follows) {
    heap_.clear();
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
      cursors_[i].seek(from);
      EVERSHARD_TRY(cursors_[i].status());
      if (cursors_[i].valid()) heap_.push_back(i);
    }
    for (std::size_t i = heap_.size() / 2; i-- > 0;) sift_down(i);
  }
  const std::size_t n = size_.next(follows);
  while (!heap_.empty() && block.size() < n) {
    EVERSHARD_TRY(spend(posting_units));
    PostingCursor& top = cursors_[heap_.front()];
    const Posting& posting = top.get();
    if (block.empty() || block.back().position != posting.position) {
      block.push_back(posting);
    } else if (block.back().type == 0) {
      block.back().type = posting.type;
    }
    top.next();
    EVERSHARD_TRY(top.status());
    if (!top.valid()) {
      heap_.front() = heap_.back();
      heap_.pop_back();
    }
    if (!heap_.empty()) sift_down(0);
  }
  // Others may stand at the last position still: they are behind it before the next block begins.
  while (!heap_.empty() && cursors_[heap_.front()].get().position == block.back().position) {
    PostingCursor& top = cursors_[heap_.front()];
    if (block.back().type == 0) block.back().type = top.get().type;
    top.next();
    EVERSHARD_TRY(top.status());
    if (!top.valid()) {
      heap_.front() = heap_.back();
      heap_.pop_back();
    }
    if (!heap_.empty()) sift_down(0);
  }
  if (!block.empty()) expected_ = walk_.behind(block.back().position);
  return {};
}

IntersectionPostings::IntersectionPostings(std::vector<std::unique_ptr<PostingSource>> sources,
                                           std::vector<sharding::Term> types, const Walk& walk)
    : walk_(walk), cursors_(cursors_of(std::move(sources), walk)), types_(std::move(types)) {
  EVERSHARD_CHECK(!cursors_.empty(), "an intersection of something");
  std::sort(types_.begin(), types_.end());
}

Result<void> IntersectionPostings::fill(GlobalPosition from, std::vector<Posting>& block) {
  block.clear();
  const std::size_t n = size_.next(from == expected_);
  PostingCursor& lead = cursors_.front();
  lead.seek(from);
  while (lead.valid() && block.size() < n) {
    EVERSHARD_TRY(spend(posting_units * cursors_.size()));
    const GlobalPosition at = lead.get().position;
    sharding::Term type = lead.get().type;
    GlobalPosition next = at;
    for (std::size_t i = 1; i < cursors_.size() && next == at; ++i) {
      cursors_[i].seek(at);
      EVERSHARD_TRY(cursors_[i].status());
      if (!cursors_[i].valid()) return {};
      next = cursors_[i].get().position;
      if (next == at && type == 0) type = cursors_[i].get().type;
    }
    if (next != at) {
      lead.seek(next);
      continue;
    }
    if (types_.empty() || type == 0 || std::binary_search(types_.begin(), types_.end(), type)) {
      block.push_back({at, lead.get().location, type});
    }
    lead.next();
  }
  EVERSHARD_TRY(lead.status());
  if (!block.empty()) expected_ = walk_.behind(block.back().position);
  return {};
}

std::unique_ptr<PostingSource> union_of(std::vector<std::unique_ptr<PostingSource>> sources, const Walk& walk) {
  EVERSHARD_CHECK(!sources.empty(), "a union of something");
  if (sources.size() == 1) return std::move(sources.front());
  return std::make_unique<UnionPostings>(std::move(sources), walk);
}

}  // namespace evershard::storage
