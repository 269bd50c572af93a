#include "evershard/storage/index/fetching_cursor.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/index/query_postings.hpp"
#include "evershard/storage/index/read_work.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t batch_first = 16;
constexpr std::size_t batch_max = 256;
constexpr std::uint64_t event_units = 500;  ///< of spend()
// Records are fetched whole for one event of theirs: what a batch may hold of them.
constexpr std::size_t batch_bytes_min = 4u << 20;

}  // namespace

std::size_t bytes_of(const RecordedView& event) {
  std::size_t bytes = sizeof(RecordedEvent) + event.type.size() + event.payload.size() + event.metadata_bytes().size();
  for (const auto& tag : event.tags) bytes += sizeof(Tag) + tag.size();
  for (const auto& [type, value] : event.also) bytes += sizeof(AggregateId) + type.size() + value.size();
  return bytes;
}

FetchingCursor::FetchingCursor(const Rows& rows, View view, std::optional<std::uint64_t> limit)
    : view_(std::move(view)),
      fetch_(rows),
      left_(limit.value_or(std::numeric_limits<std::uint64_t>::max())),
      batch_(batch_first) {}

/// The next records, from found_[at_] on. False: there are no more.
Result<bool> FetchingCursor::fetch(std::size_t wanted, std::size_t bytes_max) {
  const std::size_t n = std::min(wanted, batch_);
  if (at_ == found_.size()) {
    found_.clear();
    at_ = 0;
    EVERSHARD_TRY(take(n, found_));
    if (found_.empty()) {
      ended_ = true;
      return false;
    }
  }
  fetched_from_ = fetched_ = at_;  // nothing, if it fails
  const std::size_t count = std::min(n, found_.size() - at_);
  EVERSHARD_TRY(fetch_.fetch(std::span(found_).subspan(at_, count)));
  fetched_ = at_ + count;
  const std::size_t bytes_each = std::max<std::size_t>(fetch_.bytes() / count, 1);
  batch_ =
      std::clamp<std::size_t>(std::max(bytes_max, batch_bytes_min) / bytes_each, 1, std::min(batch_ * 4, batch_max));
  return true;
}

Result<void> FetchingCursor::visit(std::size_t events_max, std::size_t bytes_max, const RecordedVisitor& visitor) {
  events_max = std::max<std::size_t>(events_max, 1);
  std::size_t taken = 0, bytes = 0;
  fetched_ = fetched_from_ = at_;
  while (!at_end() && taken < events_max && (taken == 0 || bytes < bytes_max)) {
    if (at_ == fetched_) {
      auto more = fetch(static_cast<std::size_t>(std::min<std::uint64_t>(events_max - taken, left_)), bytes_max);
      if (!more && taken > 0) break;
      if (!more) return refuse(std::move(more).error());
      if (!*more) break;
    }
    auto view = fetch_.event(at_ - fetched_from_);
    if (!view && taken > 0) break;
    if (!view) return damaged_at(found_[at_].position, std::move(view).error());
    to_view(*view, found_[at_].position, found_[at_].location, event_);
    auto accepted = accepts(event_);
    if (auto spent = spend(event_units + event_.payload.size()); accepted && !spent)
      accepted = refuse(std::move(spent).error());
    if (!accepted && taken > 0) break;
    if (!accepted) return damaged_at(found_[at_].position, std::move(accepted).error());
    ++at_;
    if (!*accepted) continue;
    bytes += bytes_of(event_);
    visitor(event_);
    ++taken;
    --left_;
  }
  return {};
}

Result<std::size_t> FetchingCursor::next_positions(std::size_t events_max, std::vector<GlobalPosition>& out) {
  events_max = std::max<std::size_t>(events_max, 1);
  const std::size_t before = out.size();
  if (!decided_by_index()) {
    std::vector<RecordedEvent> events;
    EVERSHARD_TRY(next(events_max, std::numeric_limits<std::size_t>::max(), events));
    for (const RecordedEvent& event : events) out.push_back(event.position);
    return out.size() - before;
  }
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(events_max, left_));
  for (; at_ < found_.size() && out.size() - before < n; ++at_) out.push_back(found_[at_].position);
  if (out.size() - before < n) {
    EVERSHARD_TRY(take_positions(n - (out.size() - before), out));
    ended_ = out.size() - before < n;
  }
  left_ -= out.size() - before;
  return out.size() - before;
}

QueryCursor::QueryCursor(const Rows& rows, View view, const Query& query, const sharding::TermHasher& hasher,
                         const Walk& walk, std::optional<std::uint64_t> limit)
    : FetchingCursor(rows, view, limit),
      query_(query),
      walk_(walk),
      postings_(query_postings(rows, view, query, hasher, walk), walk),
      decided_by_index_(storage::decided_by_index(query)) {}

void QueryCursor::start() {
  if (!started_) postings_.seek(walk_.begin());
  started_ = true;
}

Result<void> QueryCursor::take(std::size_t n, std::vector<FoundEvent>& out) {
  start();
  for (; postings_.valid() && n > 0; --n, postings_.next())
    out.push_back({postings_.get().position, postings_.get().location});
  // Events that were found before the damage are given out first.
  return out.empty() ? postings_.status() : Result<void>{};
}

Result<void> QueryCursor::take_positions(std::size_t n, std::vector<GlobalPosition>& out) {
  start();
  while (postings_.valid() && n > 0) {
    const std::span<const Posting> rest = postings_.rest_of_block();
    const std::size_t count = std::min(n, rest.size());
    for (const Posting& posting : rest.first(count)) out.push_back(posting.position);
    postings_.skip(count);
    n -= count;
  }
  return postings_.status();
}

StreamCursor::StreamCursor(const Rows& rows, View view, AggregateId aggregate, sharding::Term stream,
                           GlobalPosition up_to, std::optional<SeqNr> from, Direction direction,
                           std::optional<std::uint64_t> limit)
    : FetchingCursor(rows, view, limit),
      aggregate_(std::move(aggregate)),
      stream_(rows, view, stream, aggregate_.text(), up_to),
      next_(from),
      direction_(direction) {
  if (direction == Direction::forwards) next_ = std::max(from.value_or(SeqNr{1}), SeqNr{1});
}

Result<bool> StreamCursor::more() {
  if (at_ < block_.size()) return true;
  at_ = 0;
  const bool forwards = direction_ == Direction::forwards;
  if (!forwards && block_.empty()) {
    auto last = stream_.last();  // `from` may lie behind it
    if (!last) return refuse(last.error());
    if (!*last) return false;
    next_ = std::min(next_.value_or((*last)->seq_nr), (*last)->seq_nr);
  }
  EVERSHARD_TRY(stream_.fill(*next_, direction_, block_));
  if (block_.empty()) {
    next_ = SeqNr{0};
    return false;
  }
  next_ = forwards ? block_.back().seq_nr + 1 : block_.back().seq_nr - 1;
  return true;
}

Result<void> StreamCursor::take(std::size_t n, std::vector<FoundEvent>& out) {
  for (; n > 0; --n, ++at_) {
    auto any = more();
    if (!any && out.empty()) return refuse(std::move(any).error());
    if (!any || !*any) break;
    out.push_back({block_[at_].position, block_[at_].location});
  }
  return {};
}

Result<void> StreamCursor::take_positions(std::size_t n, std::vector<GlobalPosition>& out) {
  for (; n > 0; --n, ++at_) {
    auto any = more();
    if (!any) return refuse(std::move(any).error());
    if (!*any) break;
    out.push_back(block_[at_].position);
  }
  return {};
}

Result<bool> StreamCursor::accepts(const RecordedView& event) {
  if (event.is_of(aggregate_)) return true;
  return damaged(event.shard, event.offset,
                 "the index has it under " + in_quotes(aggregate_.text()) + ", the record is another's");
}

}  // namespace evershard::storage
