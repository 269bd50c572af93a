#include "evershard/storage/index/event_cache.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

#include <rocksdb/cache.h>

namespace evershard::storage {

struct EventCache::Entry {
  std::size_t size;
  // its bytes follow
  [[nodiscard]] char* bytes() { return reinterpret_cast<char*>(this + 1); }
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

void free_entry(const rocksdb::Slice&, void* entry) { std::free(entry); }

}  // namespace

EventCache::Found::~Found() {
  if (cache_ != nullptr) cache_->Release(static_cast<rocksdb::Cache::Handle*>(handle_));
}

std::string_view EventCache::Found::bytes() const {
  auto* entry = static_cast<Entry*>(cache_->Value(static_cast<rocksdb::Cache::Handle*>(handle_)));
  return {entry->bytes(), entry->size};
}

EventCache::EventCache(std::shared_ptr<rocksdb::Cache> cache) : cache_(std::move(cache)), id_(cache_->NewId()) {}

EventCache::Found EventCache::find(ShardId shard, ShardOffset offset) const {
  auto* handle = cache_->Lookup(Key(id_.load(), shard, offset).slice());
  return handle == nullptr ? Found() : Found(cache_.get(), handle);
}

// A record is written, then counted, then forgotten. So of a reader that kept what it had read before, either the
// count is noticed here, or what it kept is there to be forgotten.
void EventCache::keep(ShardId shard, ShardOffset offset, std::string_view bytes, std::uint64_t rewrites) {
  if (rewrites_.load() != rewrites) return;
  if (!has_room_.load(std::memory_order_relaxed) &&
      refused_.fetch_add(1, std::memory_order_relaxed) % full_keeps_one_of != 0)
    return;
  const Key key(id_.load(), shard, offset);
  auto* memory = std::malloc(sizeof(Entry) + bytes.size());
  if (memory == nullptr) return;
  auto* entry = new (memory) Entry{bytes.size()};
  std::memcpy(entry->bytes(), bytes.data(), bytes.size());
  static_cast<void>(cache_->Insert(key.slice(), entry, sizeof(Entry) + bytes.size(), &free_entry));
  if (rewrites_.load() != rewrites) cache_->Erase(key.slice());
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
}

void EventCache::forget_all() {
  rewrites_.fetch_add(1);
  id_.store(cache_->NewId());
}

}  // namespace evershard::storage
