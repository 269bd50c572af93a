#include "evershard/storage/index/run_builder.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "evershard/protocol/check.hpp"
#include "evershard/storage/journal/keys.hpp"

namespace evershard::storage {

/// The rows of one family.
class FamilyRows {
 public:
  virtual ~FamilyRows() = default;
  virtual bool prepare_step() { return true; }
  virtual bool next(std::string& key, std::string& value) = 0;

  std::string key, value;  // what the builder's caller looks at
};

namespace {

/// Sorts `items` in slices, a slice a step, and merges them while they are taken.
template <class T>
class SlicedSort {
 public:
  void add(T item) { items_.push_back(std::move(item)); }
  void reserve(std::size_t n) { items_.reserve(n); }
  /// True: done.
  bool sort_step(std::size_t slice) {
    if (sorted_ < items_.size()) {
      const std::size_t end = std::min(sorted_ + slice, items_.size());
      std::sort(items_.begin() + static_cast<std::ptrdiff_t>(sorted_),
                items_.begin() + static_cast<std::ptrdiff_t>(end));
      heap_.push_back({sorted_, end});
      sorted_ = end;
    }
    if (sorted_ < items_.size()) return false;
    for (std::size_t i = heap_.size() / 2; i-- > 0;) sift_down(i);
    return true;
  }
  /// The next one; it holds until the sort goes.
  const T* take() {
    if (heap_.empty()) return nullptr;
    Slice& first = heap_.front();
    const T* item = &items_[first.at];
    if (++first.at == first.end) {
      first = heap_.back();
      heap_.pop_back();
    }
    if (!heap_.empty()) sift_down(0);
    return item;
  }

 private:
  struct Slice {
    std::size_t at, end;
  };
  [[nodiscard]] bool before(const Slice& a, const Slice& b) const { return items_[a.at] < items_[b.at]; }
  void sift_down(std::size_t i) {
    const std::size_t n = heap_.size();
    const Slice moved = heap_[i];
    for (std::size_t child; (child = 2 * i + 1) < n; i = child) {
      if (child + 1 < n && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], moved)) break;
      heap_[i] = heap_[child];
    }
    heap_[i] = moved;
  }

  std::vector<T> items_;
  std::size_t sorted_ = 0;
  std::vector<Slice> heap_;  // the slice with the next item on top
};

/// The tail's table is sorted by the top byte of the term: only its parts are sorted here, each when it is reached.
class PostingRows final : public FamilyRows {
 public:
  explicit PostingRows(const TailIndex& tail) : tail_(tail) {}

  bool next(std::string& row_key, std::string& row_value) override {
    while (at_ == lists_.size() && part_ < TailTable::parts) {
      lists_.clear();
      at_ = 0;
      tail_.term_table().for_each(part_++, [&](std::uint32_t n) { lists_.push_back(&tail_.terms()[n]); });
      std::sort(lists_.begin(), lists_.end(), [](const auto* a, const auto* b) { return a->term < b->term; });
    }
    if (at_ == lists_.size()) return false;
    const TailIndex::TermEntry& list = *lists_[at_];
    const std::uint32_t n = std::min<std::uint32_t>(list.events.size() - done_, chunk_entries_max);
    std::array<std::uint32_t, chunk_entries_max> numbers;
    list.events.read(done_, n, numbers.data());
    chunk_.clear();
    for (std::uint32_t i = 0; i < n; ++i) chunk_.push_back(tail_.posting(numbers[i]));
    row_key = keys::posting(list.term, chunk_.front().position);
    row_value.clear();
    encode_postings(chunk_, row_value);
    done_ += n;
    if (done_ == list.events.size()) {
      ++at_;
      done_ = 0;
    }
    return true;
  }

 private:
  const TailIndex& tail_;
  unsigned part_ = 0;
  std::vector<const TailIndex::TermEntry*> lists_;
  std::size_t at_ = 0;
  std::uint32_t done_ = 0;
  std::vector<Posting> chunk_;
};

/// The same for streams; the chunks of aggregates with the same hash come in turns, by seq_nr and position.
class StreamRows final : public FamilyRows {
 public:
  explicit StreamRows(const TailIndex& tail) : tail_(tail) {}

  bool next(std::string& row_key, std::string& row_value) override {
    while (at_ == chunks_.size() && part_ < TailTable::parts) collect(part_++);
    if (at_ == chunks_.size()) return false;
    const Chunk& chunk = chunks_[at_++];
    const std::uint32_t n = std::min<std::uint32_t>(chunk.stream->events.size() - chunk.begin, chunk_entries_max);
    std::array<std::uint32_t, chunk_entries_max> numbers;
    chunk.stream->events.read(chunk.begin, n, numbers.data());
    entries_.clear();
    for (std::uint32_t i = 0; i < n; ++i) {
      entries_.push_back({tail_.first() + numbers[i], tail_.place(numbers[i]).location()});
    }
    row_key = keys::stream(chunk.stream->term, chunk.first_seq_nr, entries_.front().position);
    row_value.clear();
    encode_stream(chunk.stream->aggregate_text, entries_, row_value);
    return true;
  }

 private:
  struct Chunk {
    sharding::Term term;
    SeqNr first_seq_nr;
    std::uint32_t first_event;
    std::uint32_t begin;  // in the stream's list
    const TailIndex::StreamEntries* stream;
  };

  void collect(unsigned part) {
    chunks_.clear();
    at_ = 0;
    tail_.stream_table().for_each(part, [&](std::uint32_t n) {
      const TailIndex::StreamEntries& stream = tail_.streams()[n];
      for (std::uint32_t begin = 0, end = stream.events.size(); begin < end; begin += chunk_entries_max) {
        chunks_.push_back({stream.term, stream.first_seq_nr + begin, stream.events.at(begin), begin, &stream});
      }
    });
    std::sort(chunks_.begin(), chunks_.end(), [](const Chunk& a, const Chunk& b) {
      return std::tie(a.term, a.first_seq_nr, a.first_event) < std::tie(b.term, b.first_seq_nr, b.first_event);
    });
  }

  const TailIndex& tail_;
  unsigned part_ = 0;
  std::vector<Chunk> chunks_;
  std::size_t at_ = 0;
  std::vector<StreamEntry> entries_;
};

/// Event ids, keys of commands and of requests. Ids may share their first bytes (UUID version 7), so nothing is known
/// of their order.
class IdRows final : public FamilyRows {
 public:
  explicit IdRows(const TailIndex& tail) : tail_(tail) {}

  bool prepare_step() override {
    const auto events = static_cast<std::uint32_t>(tail_.events());
    const std::uint32_t keys = tail_.keys().size();
    if (collected_ == 0) ids_.reserve(std::size_t{events} + keys);
    const std::uint64_t all = std::uint64_t{events} + keys;
    if (collected_ < all) {
      const std::uint64_t until = std::min<std::uint64_t>(collected_ + collect_step, all);
      for (; collected_ < until; ++collected_) {
        if (collected_ < events) {
          const auto event = static_cast<std::uint32_t>(collected_);
          if (tail_.id(event).given()) ids_.add(Id(tail_.id(event), tail_.place(event).shard, event, IdKind::event));
        } else {
          const TailIndex::KeyEntry& key = tail_.keys()[static_cast<std::uint32_t>(collected_ - events)];
          ids_.add(Id(key.key, tail_.place(key.event).shard, key.event, key.kind));
        }
      }
      return false;
    }
    return ids_.sort_step(sort_slice);
  }

  bool next(std::string& row_key, std::string& row_value) override {
    const Id* id = ids_.take();
    if (id == nullptr) return false;
    EventId event_id;
    put(id->high, event_id.bytes.data());
    put(id->low, event_id.bytes.data() + 8);
    row_key = keys::id(event_id, id->shard);
    row_value = encode_id({tail_.first() + id->event, tail_.place(id->event).location(), id->kind});
    return true;
  }

 private:
  static constexpr std::uint64_t collect_step = 32'768;
  static constexpr std::size_t sort_slice = 8'192;

  struct Id {
    std::uint64_t high, low;  // in text order
    ShardId shard;
    IdKind kind;
    std::uint32_t event;

    Id(const EventId& id, ShardId s, std::uint32_t e, IdKind k)
        : high(get(id.bytes.data())), low(get(id.bytes.data() + 8)), shard(s), kind(k), event(e) {}
    friend auto operator<=>(const Id&, const Id&) = default;
  };
  static std::uint64_t get(const std::uint8_t* bytes) {
    std::uint64_t n = 0;
    for (int i = 0; i < 8; ++i) n = n << 8 | bytes[i];
    return n;
  }
  static void put(std::uint64_t n, std::uint8_t* bytes) {
    for (int i = 7; i >= 0; --i, n >>= 8) bytes[i] = static_cast<std::uint8_t>(n);
  }

  const TailIndex& tail_;
  std::uint64_t collected_ = 0;
  SlicedSort<Id> ids_;
};

/// Aggregates whose first event lies in this tail.
class DirectoryRows final : public FamilyRows {
 public:
  explicit DirectoryRows(const TailIndex& tail) : tail_(tail) {}

  bool prepare_step() override {
    const std::uint32_t streams = tail_.streams().size();
    if (collected_ < streams) {
      for (const std::uint32_t until = std::min(collected_ + collect_step, streams); collected_ < until; ++collected_) {
        const TailIndex::StreamEntries& stream = tail_.streams()[collected_];
        if (stream.first_seq_nr != SeqNr{1}) continue;
        const std::size_t dash = stream.aggregate_text.find('-');
        EVERSHARD_CHECK(dash != std::string_view::npos, "an aggregate's text form has a '-'");
        aggregates_.add({stream.aggregate_text.substr(0, dash), stream.aggregate_text.substr(dash + 1), &stream});
      }
      return false;
    }
    return aggregates_.sort_step(sort_slice);
  }

  bool next(std::string& row_key, std::string& row_value) override {
    const Aggregate* aggregate = aggregates_.take();
    if (aggregate == nullptr) return false;
    row_key = keys::directory({std::string(aggregate->type), std::string(aggregate->value)});
    const ShardId shard = tail_.place(aggregate->stream->events.at(0)).shard;
    row_value = encode_directory(aggregate->stream->term, shard);
    return true;
  }

 private:
  static constexpr std::uint32_t collect_step = 16'384;
  static constexpr std::size_t sort_slice = 2'048;

  struct Aggregate {
    std::string_view type, value;
    const TailIndex::StreamEntries* stream;
    friend bool operator<(const Aggregate& a, const Aggregate& b) {
      return std::tie(a.type, a.value) < std::tie(b.type, b.value);
    }
  };

  const TailIndex& tail_;
  std::uint32_t collected_ = 0;
  SlicedSort<Aggregate> aggregates_;
};

/// Runs of each shard: the events' numbers grouped by shard in two passes over the tail.
class RunRows final : public FamilyRows {
 public:
  explicit RunRows(const TailIndex& tail) : tail_(tail) {}

  bool prepare_step() override {
    const auto events = static_cast<std::uint32_t>(tail_.events());
    if (counted_ < events) {
      for (const std::uint32_t until = std::min(counted_ + step, events); counted_ < until; ++counted_) {
        if (tail_.place(counted_).is_elsewhere()) continue;
        const std::size_t shard = tail_.place(counted_).shard.value;
        if (shard >= begins_.size()) begins_.resize(shard + 1);
        ++begins_[shard];
      }
      return false;
    }
    if (ends_.empty()) {
      std::uint32_t begin = 0;
      for (std::uint32_t& count : begins_) begin += std::exchange(count, begin);
      ends_ = begins_;
      by_shard_.resize(begin);
    }
    if (grouped_ < events) {
      for (const std::uint32_t until = std::min(grouped_ + step, events); grouped_ < until; ++grouped_) {
        if (!tail_.place(grouped_).is_elsewhere()) by_shard_[ends_[tail_.place(grouped_).shard.value]++] = grouped_;
      }
      return false;
    }
    return true;
  }

  bool next(std::string& row_key, std::string& row_value) override {
    while (shard_ < begins_.size() && begins_[shard_] == ends_[shard_]) ++shard_;
    if (shard_ == begins_.size()) return false;
    const ShardId shard{static_cast<ShardId::rep>(shard_)};
    chunk_.clear();
    for (std::uint32_t& at = begins_[shard_]; at < ends_[shard_]; ++at) {
      const GlobalPosition position = tail_.first() + by_shard_[at];
      const ShardOffset offset = tail_.place(by_shard_[at]).location().offset();
      if (!chunk_.empty() && chunk_.back().position + chunk_.back().count == position &&
          chunk_.back().offset + chunk_.back().count == offset) {
        ++chunk_.back().count;
      } else if (chunk_.size() == chunk_entries_max) {
        break;
      } else {
        chunk_.push_back({shard, position, offset, 1});
      }
    }
    row_key = keys::run(shard, chunk_.front().position);
    row_value.clear();
    encode_runs(chunk_, row_value);
    return true;
  }

 private:
  static constexpr std::uint32_t step = 65'536;

  const TailIndex& tail_;
  std::uint32_t counted_ = 0, grouped_ = 0;
  std::vector<std::uint32_t> begins_, ends_;  // by shard, in by_shard_
  std::vector<std::uint32_t> by_shard_;
  std::size_t shard_ = 0;
  std::vector<sharding::Run> chunk_;
};

std::unique_ptr<FamilyRows> rows_of(const TailIndex& tail, Family family) {
  switch (family) {
    case Family::postings:
      return std::make_unique<PostingRows>(tail);
    case Family::streams:
      return std::make_unique<StreamRows>(tail);
    case Family::ids:
      return std::make_unique<IdRows>(tail);
    case Family::directory:
      return std::make_unique<DirectoryRows>(tail);
    case Family::runs:
      return std::make_unique<RunRows>(tail);
    case Family::journal:
    case Family::order:
    case Family::state:
      break;
  }
  EVERSHARD_CHECK(false, "only index families are built from a tail");
  return nullptr;
}

}  // namespace

RunBuilder::RunBuilder(std::shared_ptr<const TailIndex> tail, Family family)
    : tail_(std::move(tail)), rows_(rows_of(*tail_, family)) {}
RunBuilder::~RunBuilder() = default;

bool RunBuilder::prepare_step() { return rows_->prepare_step(); }

bool RunBuilder::next(std::string_view& key, std::string_view& value) {
  if (!rows_->next(rows_->key, rows_->value)) return false;
  key = rows_->key;
  value = rows_->value;
  return true;
}

}  // namespace evershard::storage
