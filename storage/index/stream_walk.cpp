#include "evershard/storage/index/stream_walk.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/index/term_postings.hpp"
#include "evershard/storage/journal/keys.hpp"

namespace evershard::storage {
namespace {

constexpr SeqNr seq_nr_max{std::numeric_limits<std::uint64_t>::max()};
constexpr GlobalPosition position_max{std::numeric_limits<std::uint64_t>::max()};

}  // namespace

StreamWalk::StreamWalk(const Rows& rows, const View& view, sharding::Term stream, std::string aggregate_text,
                       GlobalPosition up_to)
    : rows_(rows),
      stream_(stream),
      text_(std::move(aggregate_text)),
      prefix_(keys::stream_prefix(stream)),
      sealed_last_(std::min(view.mark, up_to)),
      view_(view) {
  const std::size_t tails = view.tails ? view.tails->size() : 0;
  for (std::size_t i = 0; i < tails; ++i) {
    const PositionRange range = tail_range(view, i, {GlobalPosition{1}, up_to});
    if (range.empty()) continue;
    const TailIndex& tail = *(*view.tails)[i];
    const TailIndex::StreamEntries* entries = tail.find_stream(stream_, text_);
    if (entries == nullptr) continue;
    const auto count =
        entries->events.lower_bound(static_cast<std::uint32_t>(range.last + 1 - tail.first()), entries->events.size());
    if (count > 0) tails_.push_back({&tail, &entries->events, entries->first_seq_nr, count});
  }
}

NumberedEntry StreamWalk::TailPart::entry(std::uint32_t i) const {
  const Posting posting = tail->posting(events->at(i));
  return {first_seq_nr + i, posting.position, posting.location, posting.type};
}

bool StreamWalk::on_row() const { return cursor_->valid() && cursor_->key().starts_with(prefix_); }

Result<bool> StreamWalk::skip_others(Direction direction) {
  on_chunk_ = false;
  chunk_.entries.clear();
  for (; on_row(); direction == Direction::forwards ? cursor_->next() : cursor_->prev()) {
    auto key = keys::decode_stream(cursor_->key());
    if (!key) return refuse(std::move(key).error());
    if (key->first > sealed_last_) continue;
    std::size_t entries = 0;
    auto owner = decode_stream_owner(cursor_->value(), entries);
    if (!owner) return refuse(std::move(owner).error());
    if (*owner != text_) continue;
    chunk_first_ = key->first_seq_nr;
    on_chunk_ = true;
    return true;
  }
  EVERSHARD_TRY(cursor_->status());
  return false;
}

Result<bool> StreamWalk::find_chunk(SeqNr seq_nr) {
  on_chunk_ = false;
  if (sealed_last_.value == 0) return false;
  if (cursor_ == nullptr) cursor_ = rows_.cursor(Family::streams, {.prefix = prefix_});
  cursor_->seek_for_prev(keys::stream(stream_, seq_nr, position_max));
  return skip_others(Direction::backwards);
}

Result<void> StreamWalk::decode() {
  chunk_.entries.clear();
  EVERSHARD_TRY(decode_stream(cursor_->value(), chunk_));
  auto end = std::upper_bound(chunk_.entries.begin(), chunk_.entries.end(), sealed_last_,
                              [](GlobalPosition last, const StreamEntry& e) { return last < e.position; });
  chunk_.entries.erase(end, chunk_.entries.end());
  if (chunk_.entries.empty()) return refuse(ErrorCode::corruption, "a chunk of a stream begins behind its first entry");
  return {};
}

Result<std::optional<NumberedEntry>> StreamWalk::last_sealed(GlobalPosition position) {
  // The last chunk that begins at or before it: mostly the newest, else halving the seq_nrs in between.
  auto found = find_chunk(seq_nr_max);
  if (!found) return refuse(found.error());
  if (!*found) return std::nullopt;
  auto first_position = [&] { return keys::decode_stream(cursor_->key()).value().first; };
  if (first_position() > position) {
    std::uint64_t low = 0,
                  high = chunk_first_
                             .value;  // the chunk of `low` (0: none) begins at or before it, that of `high` does not
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      found = find_chunk(SeqNr{middle});
      if (!found) return refuse(found.error());
      if (*found && first_position() <= position) {
        EVERSHARD_TRY(decode());
        low = std::max(middle, chunk_first_.value + chunk_.entries.size() - 1);
      } else {
        high = *found ? chunk_first_.value : middle;
      }
    }
    if (low == 0) return std::nullopt;
    found = find_chunk(SeqNr{low});
    if (!found) return refuse(found.error());
  }
  EVERSHARD_TRY(decode());
  auto end = std::upper_bound(chunk_.entries.begin(), chunk_.entries.end(), position,
                              [](GlobalPosition at, const StreamEntry& e) { return at < e.position; });
  const auto count = static_cast<std::uint64_t>(end - chunk_.entries.begin());
  if (count == 0) return std::nullopt;
  const StreamEntry& entry = end[-1];
  return NumberedEntry{chunk_first_ + (count - 1), entry.position, entry.location};
}

Result<std::optional<NumberedEntry>> StreamWalk::last() { return last_until(position_max); }

Result<std::optional<NumberedEntry>> StreamWalk::last_until(GlobalPosition position) {
  for (auto part = tails_.rbegin(); part != tails_.rend(); ++part) {
    std::uint32_t count = part->count;
    if (position < part->tail->first()) continue;
    if (position != position_max) {
      const std::uint64_t number =
          std::min<std::uint64_t>(position + 1 - part->tail->first(), std::numeric_limits<std::uint32_t>::max());
      count = part->events->lower_bound(static_cast<std::uint32_t>(number), count);
    }
    if (count > 0) return part->entry(count - 1);
  }
  return last_sealed(position);
}

Result<std::optional<NumberedEntry>> StreamWalk::first_from(GlobalPosition position) {
  // The first entry from a position on is the one behind the last entry before that position.
  SeqNr seq_nr{1};
  if (position.value > 1) {
    auto before = last_until(position - 1);
    if (!before) return refuse(before.error());
    if (*before) seq_nr = (*before)->seq_nr + 1;
  }
  std::vector<NumberedEntry> block;
  EVERSHARD_TRY(fill(seq_nr, Direction::forwards, block));
  if (block.empty()) return std::nullopt;
  return block.front();
}

Result<void> StreamWalk::fill(SeqNr seq_nr, Direction direction, std::vector<NumberedEntry>& block) {
  block.clear();
  if (seq_nr.value == 0) return {};
  for (const TailPart& part : tails_) {
    if (seq_nr < part.first_seq_nr || seq_nr - part.first_seq_nr >= part.count) continue;
    const auto at = static_cast<std::uint32_t>(seq_nr - part.first_seq_nr);
    const bool forwards = direction == Direction::forwards;
    const auto n = std::min<std::uint32_t>(forwards ? part.count - at : at + 1, chunk_entries_max);
    const std::uint32_t begin = forwards ? at : at + 1 - n;
    std::array<std::uint32_t, chunk_entries_max> numbers;
    part.events->read(begin, n, numbers.data());
    for (std::uint32_t i = 0; i < n; ++i) {
      const Posting posting = part.tail->posting(numbers[i]);
      block.push_back({part.first_seq_nr + (begin + i), posting.position, posting.location, posting.type});
    }
    if (!forwards) std::reverse(block.begin(), block.end());
    return {};
  }
  if (tails_.empty() || seq_nr < tails_.front().first_seq_nr) {
    EVERSHARD_TRY(fill_sealed(seq_nr, direction, block));
    if (!block.empty()) return {};
  }
  return check_end(seq_nr);
}

/// Nothing was found at `seq_nr`: then the stream ends before it.
Result<void> StreamWalk::check_end(SeqNr seq_nr) {
  if (!last_seq_nr_) {
    auto found = last();
    if (!found) return refuse(std::move(found).error());
    last_seq_nr_ = *found ? (*found)->seq_nr : SeqNr{0};
  }
  if (seq_nr > *last_seq_nr_) return {};
  return refuse(ErrorCode::corruption, "the index of " + in_quotes(text_) + " has no entry for seq_nr " +
                                           std::to_string(seq_nr.value) + " of " + std::to_string(last_seq_nr_->value) +
                                           ": its record was damaged when the index was made");
}

Result<void> StreamWalk::fill_sealed(SeqNr seq_nr, Direction direction, std::vector<NumberedEntry>& block) {
  const bool forwards = direction == Direction::forwards;
  // From the end of the chunk before to the neighbour, else by a search.
  Result<bool> found = false;
  if (on_chunk_ && forwards && !chunk_.entries.empty() && seq_nr == chunk_first_ + chunk_.entries.size()) {
    cursor_->next();
    found = skip_others(direction);
  } else if (on_chunk_ && !forwards && seq_nr + 1 == chunk_first_) {
    cursor_->prev();
    found = skip_others(direction);
  } else {
    found = find_chunk(seq_nr);
  }
  if (!found) return refuse(found.error());
  if (!*found) return {};
  EVERSHARD_TRY(decode());
  if (seq_nr < chunk_first_ || seq_nr - chunk_first_ >= chunk_.entries.size()) return {};
  const auto at = static_cast<std::size_t>(seq_nr - chunk_first_);
  const std::size_t begin = forwards ? at : 0, end = forwards ? chunk_.entries.size() : at + 1;
  for (std::size_t i = begin; i < end; ++i) {
    block.push_back({chunk_first_ + i, chunk_.entries[i].position, chunk_.entries[i].location});
  }
  if (!forwards) std::reverse(block.begin(), block.end());
  return {};
}

namespace {

class StreamPostings final : public PostingSource {
 public:
  StreamPostings(StreamWalk stream, const Walk& walk) : stream_(std::move(stream)), walk_(walk) {}

  Result<void> fill(GlobalPosition from, std::vector<Posting>& block) override {
    block.clear();
    if (from != expected_) {
      auto first = walk_.forwards() ? stream_.first_from(from) : stream_.last_until(from);
      if (!first) return refuse(first.error());
      if (!*first) return {};
      next_ = (*first)->seq_nr;
    }
    EVERSHARD_TRY(stream_.fill(next_, walk_.direction, entries_));
    for (const NumberedEntry& entry : entries_) {
      if (!walk_.range.contains(entry.position)) break;
      block.push_back({entry.position, entry.location, entry.type});
    }
    if (block.empty()) return {};
    expected_ = walk_.behind(block.back().position);
    next_ = walk_.forwards() ? next_ + block.size() : next_ - block.size();
    return {};
  }

 private:
  StreamWalk stream_;
  Walk walk_;
  std::vector<NumberedEntry> entries_;
  GlobalPosition expected_;
  SeqNr next_;
};

}  // namespace

std::unique_ptr<PostingSource> stream_postings(const Rows& rows, const View& view, sharding::Term stream,
                                               std::string aggregate_text, const Walk& walk) {
  return std::make_unique<StreamPostings>(StreamWalk(rows, view, stream, std::move(aggregate_text), walk.range.last),
                                          walk);
}

}  // namespace evershard::storage
