// EventCache: events in memory, as their records have them: a query wants one event of a record, here and there.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "evershard/protocol/numbers.hpp"
#include "evershard/storage/index/found_event.hpp"

namespace rocksdb {
class Cache;
}

namespace evershard::storage {

/// A block of the journal has thirty events; of those, a query for a tag wants one. What it found is kept by itself: in
/// the same memory thirty times as many, found without a look into files, and nothing to decompress.
///
/// What is read together again, as an aggregate is, is then kept together: a hundred events are found in one step,
/// where each alone is half a dozen lines of memory that no processor has in its own cache.
///
/// The memory is the cache's of blocks: whichever was used last stays, up to the bound of both. Who takes an event out
/// compares its checksum, as of one that comes from the disk. Any thread.
class EventCache {
 public:
  struct Entry;       ///< size and bytes, in one piece
  struct BatchEntry;  ///< places, ends and bytes of several, in one piece

  /// A cached entry that was found: it stays in memory as long as this object.
  class Held {
   public:
    Held() = default;
    Held(Held&& other) noexcept : cache_(std::exchange(other.cache_, nullptr)), handle_(other.handle_) {}
    Held& operator=(Held&& other) noexcept {
      std::swap(cache_, other.cache_);
      std::swap(handle_, other.handle_);
      return *this;
    }
    ~Held();
    explicit operator bool() const { return cache_ != nullptr; }

   protected:
    friend class EventCache;
    Held(rocksdb::Cache* cache, void* handle) : cache_(cache), handle_(handle) {}
    [[nodiscard]] void* value() const;

   private:
    rocksdb::Cache* cache_ = nullptr;
    void* handle_ = nullptr;
  };
  /// One event's bytes.
  class Found : public Held {
   public:
    Found() = default;
    [[nodiscard]] std::string_view bytes() const;

   private:
    friend class EventCache;
    Found(rocksdb::Cache* cache, void* handle) : Held(cache, handle) {}
  };
  /// Those of several.
  class FoundBatch : public Held {
   public:
    FoundBatch() = default;
    /// Of the i-th event that was asked for.
    [[nodiscard]] std::string_view bytes(std::size_t i) const;
    [[nodiscard]] std::size_t bytes_of_all() const;

   private:
    friend class EventCache;
    FoundBatch(rocksdb::Cache* cache, void* handle) : Held(cache, handle) {}
  };

  /// Events that another EventCache keeps in the same `cache` are not found.
  explicit EventCache(std::shared_ptr<rocksdb::Cache> cache);

  [[nodiscard]] Found find(ShardId shard, ShardOffset offset) const;

  /// How often records were written anew. To be read before a record is, and given to keep().
  [[nodiscard]] std::uint64_t rewrites() const { return rewrites_.load(); }
  /// Where there is no room, one event of four is kept: an event that is read again and again gets in soon, and events
  /// that are read once push out little. Nothing is kept where a record was written anew since `rewrites`: the bytes
  /// may be the old ones.
  void keep(ShardId shard, ShardOffset offset, std::string_view bytes, std::uint64_t rewrites);

  static constexpr std::size_t batch_min = 8;  ///< events
  static constexpr std::size_t batch_bytes_max = 256u << 10;
  /// Just these, in this order.
  [[nodiscard]] FoundBatch find_batch(std::span<const FoundEvent> found) const;
  /// Keeps together what was found one by one; fewer than batch_min, or more than batch_bytes_max, are left as they
  /// are. As keep(): where there is no room, one of four, and nothing since a record was written anew.
  void keep_batch(std::span<const FoundEvent> found, std::span<const Found> events, std::uint64_t rewrites);

  /// Whether blocks may be kept beside events: there is memory that nobody uses. Cheap: it looks now and then.
  [[nodiscard]] bool has_room() const;

  struct Range {
    ShardId shard;
    ShardOffset first;
    std::uint64_t events;
  };
  /// Records of these events were written anew, and are there for readers.
  void forget(std::span<const Range> ranges);
  /// The same of all events.
  void forget_all();

  void count(std::uint64_t hits, std::uint64_t misses) const {
    hits_.fetch_add(hits, std::memory_order_relaxed);
    misses_.fetch_add(misses, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] bool let_in();

  const std::shared_ptr<rocksdb::Cache> cache_;
  std::atomic<std::uint64_t> id_;  ///< what the keys begin with
  std::atomic<std::uint64_t> rewrites_{0};
  mutable std::atomic<std::uint32_t> asked_{0}, refused_{0};
  mutable std::atomic<bool> has_room_{true};
  mutable std::atomic<std::uint64_t> hits_{0}, misses_{0};
};

}  // namespace evershard::storage
