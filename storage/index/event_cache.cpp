#include "evershard/storage/index/event_cache.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

#include <rocksdb/cache.h>
#include <xxhash.h>

namespace evershard::storage {

struct EventCache::Entry {
  std::size_t size;
  // its bytes follow
  [[nodiscard]] char* bytes() { return reinterpret_cast<char*>(this + 1); }
};

/// Places, then the bytes of all.
struct EventCache::BatchEntry {
  struct Place {
    std::uint64_t offset;
    std::uint32_t end;  ///< end of the event's bytes, counted from the beginning of the first event's
    std::uint16_t shard;

    [[nodiscard]] bool is(const FoundEvent& found) const {
      return offset == found.location.offset().value && shard == found.location.shard.value;
    }
  };
  std::size_t count;

  [[nodiscard]] static std::size_t size(std::size_t count, std::size_t bytes) {
    return sizeof(BatchEntry) + count * sizeof(Place) + bytes;
  }
  [[nodiscard]] Place* places() { return reinterpret_cast<Place*>(this + 1); }
  [[nodiscard]] char* bytes() { return reinterpret_cast<char*>(places() + count); }
};

namespace {

constexpr std::uint32_t look_every = 64;
constexpr double full_at = 0.9;
constexpr std::uint32_t full_keeps_one_of = 4;

/// The id of what keeps it, shard, offset.
class Key {
 public:
  Key(std::uint64_t id, ShardId shard, ShardOffset offset) {
    std::memcpy(bytes_.data(), &id, sizeof id);
    std::memcpy(bytes_.data() + sizeof id, &offset.value, sizeof offset.value);
    std::memcpy(bytes_.data() + sizeof id + sizeof offset.value, &shard.value, sizeof shard.value);
  }
  [[nodiscard]] rocksdb::Slice slice() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::array<char, 8 + 8 + 2> bytes_;
};

/// Of a batch: as long as no other one's. Two of the same hash are told apart by their places.
class BatchKey {
 public:
  BatchKey(std::uint64_t id, std::uint64_t rewrites, std::span<const FoundEvent> found) {
    std::uint64_t hash = found.size();
    for (const auto& event : found) {
      const std::array<std::uint64_t, 2> place{event.location.shard.value, event.location.offset().value};
      hash = XXH3_64bits_withSeed(place.data(), sizeof place, hash);
    }
    parts_ = {id, rewrites, hash};
  }
  [[nodiscard]] rocksdb::Slice slice() const { return {reinterpret_cast<const char*>(parts_.data()), sizeof parts_}; }

 private:
  std::array<std::uint64_t, 3> parts_;
};

void free_entry(const rocksdb::Slice&, void* entry) { std::free(entry); }

}  // namespace

EventCache::Held::~Held() {
  if (cache_ != nullptr) cache_->Release(static_cast<rocksdb::Cache::Handle*>(handle_));
}

void* EventCache::Held::value() const { return cache_->Value(static_cast<rocksdb::Cache::Handle*>(handle_)); }

std::string_view EventCache::Found::bytes() const {
  auto* entry = static_cast<Entry*>(value());
  return {entry->bytes(), entry->size};
}

std::string_view EventCache::FoundBatch::bytes(std::size_t i) const {
  auto* entry = static_cast<BatchEntry*>(value());
  const std::size_t begin = i == 0 ? 0 : entry->places()[i - 1].end;
  return {entry->bytes() + begin, entry->places()[i].end - begin};
}

std::size_t EventCache::FoundBatch::bytes_of_all() const {
  auto* entry = static_cast<BatchEntry*>(value());
  return entry->places()[entry->count - 1].end;
}

EventCache::EventCache(std::shared_ptr<rocksdb::Cache> cache) : cache_(std::move(cache)), id_(cache_->NewId()) {}

EventCache::Found EventCache::find(ShardId shard, ShardOffset offset) const {
  auto* handle = cache_->Lookup(Key(id_.load(), shard, offset).slice());
  return handle == nullptr ? Found() : Found(cache_.get(), handle);
}

// A record is written, then counted, then forgotten. So of a reader that kept what it had read before, either the
// count is noticed here, or what it kept is there to be forgotten.
void EventCache::keep(ShardId shard, ShardOffset offset, std::string_view bytes, std::uint64_t rewrites) {
  if (rewrites_.load() != rewrites || !let_in()) return;
  const Key key(id_.load(), shard, offset);
  auto* memory = std::malloc(sizeof(Entry) + bytes.size());
  if (memory == nullptr) return;
  auto* entry = new (memory) Entry{bytes.size()};
  std::memcpy(entry->bytes(), bytes.data(), bytes.size());
  // A cache that is full takes nothing: it is read again.
  static_cast<void>(cache_->Insert(key.slice(), entry, sizeof(Entry) + bytes.size(), &free_entry));
  if (rewrites_.load() != rewrites) cache_->Erase(key.slice());
}

bool EventCache::let_in() {
  return has_room_.load(std::memory_order_relaxed) ||
         refused_.fetch_add(1, std::memory_order_relaxed) % full_keeps_one_of == 0;
}

EventCache::FoundBatch EventCache::find_batch(std::span<const FoundEvent> found) const {
  if (found.size() < batch_min) return {};
  auto* handle = cache_->Lookup(BatchKey(id_.load(), rewrites_.load(), found).slice());
  if (handle == nullptr) return {};
  FoundBatch batch(cache_.get(), handle);
  auto* entry = static_cast<BatchEntry*>(batch.value());
  if (entry->count != found.size()) return {};
  for (std::size_t i = 0; i != found.size(); ++i)
    if (!entry->places()[i].is(found[i])) return {};
  return batch;
}

// Its key has the count of rewrites: once one is counted, no batch of before is found any more. What is read one by one
// until forget() is done may be old; so the count moves on there once more.
void EventCache::keep_batch(std::span<const FoundEvent> found, std::span<const Found> events, std::uint64_t rewrites) {
  if (found.size() < batch_min || rewrites_.load() != rewrites) return;
  std::size_t bytes = 0;
  for (const auto& event : events) bytes += event.bytes().size();
  if (bytes > batch_bytes_max || !let_in()) return;
  const auto size = BatchEntry::size(found.size(), bytes);
  auto* memory = std::malloc(size);
  if (memory == nullptr) return;
  auto* entry = new (memory) BatchEntry{found.size()};
  std::size_t end = 0;
  for (std::size_t i = 0; i != found.size(); ++i) {
    const auto event = events[i].bytes();
    std::memcpy(entry->bytes() + end, event.data(), event.size());
    end += event.size();
    new (entry->places() + i) BatchEntry::Place{found[i].location.offset().value, static_cast<std::uint32_t>(end),
                                                found[i].location.shard.value};
  }
  // A cache that is full takes nothing: it is read again.
  static_cast<void>(cache_->Insert(BatchKey(id_.load(), rewrites, found).slice(), entry, size, &free_entry));
}

bool EventCache::has_room() const {
  if (asked_.fetch_add(1, std::memory_order_relaxed) % look_every == 0) {
    const auto used = static_cast<double>(cache_->GetUsage());
    has_room_.store(used < full_at * static_cast<double>(cache_->GetCapacity()), std::memory_order_relaxed);
  }
  return has_room_.load(std::memory_order_relaxed);
}

void EventCache::forget(std::span<const Range> ranges) {
  rewrites_.fetch_add(1);
  for (const auto& range : ranges)
    for (std::uint64_t i = 0; i != range.events; ++i)
      cache_->Erase(Key(id_.load(), range.shard, range.first + i).slice());
  rewrites_.fetch_add(1);
}

void EventCache::forget_all() {
  rewrites_.fetch_add(1);
  id_.store(cache_->NewId());
  rewrites_.fetch_add(1);
}

}  // namespace evershard::storage
