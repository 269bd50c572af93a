#include "evershard/storage/rocks/block_cache.hpp"

#include <algorithm>
#include <mutex>

#include <rocksdb/cache.h>

#include "evershard/storage/rocks/machine_memory.hpp"

namespace evershard::storage {
namespace {

constexpr double index_share = 0.5;  // at most, that a scan of events does not push out
// What is larger than its part of the cache is read, and its checksum computed, at every look: parts are large.
constexpr std::size_t part_bytes = 32u << 20;
constexpr int part_bits_max = 6;

int part_bits(std::size_t bytes) {
  int bits = 0;
  while (bits != part_bits_max && bytes >> (bits + 1) >= part_bytes) ++bits;
  return bits;
}

std::shared_ptr<rocksdb::Cache> made(std::size_t bytes) {
  return rocksdb::NewLRUCache(bytes, part_bits(bytes), false, index_share);
}

}  // namespace

std::size_t shared_cache_bytes() {
  static const auto bytes = std::max(block_cache_least, static_cast<std::size_t>(machine_memory() / block_cache_share));
  return bytes;
}

std::shared_ptr<rocksdb::Cache> block_cache(std::size_t bytes) {
  if (bytes != 0) return made(bytes);
  static std::mutex mutex;
  static std::weak_ptr<rocksdb::Cache> shared;
  std::lock_guard lock(mutex);
  auto cache = shared.lock();
  if (!cache) shared = cache = made(shared_cache_bytes());
  return cache;
}

}  // namespace evershard::storage
