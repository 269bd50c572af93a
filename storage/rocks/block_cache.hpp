// The caches of blocks: a store's own, or the one that all stores of a process share.

#pragma once

#include <cstddef>
#include <memory>

namespace rocksdb {
class Cache;
}

namespace evershard::storage {

/// Of the machine's memory; the system's own cache of files has what is left.
constexpr std::size_t block_cache_share = 8;
constexpr std::size_t block_cache_least = 64u << 20;

/// An eighth of machine_memory(), at least 64 MiB.
[[nodiscard]] std::size_t shared_cache_bytes();

/// A cache of `bytes`; 0: the cache of shared_cache_bytes() that all callers with 0 share. The shared cache goes with
/// its last holder.
[[nodiscard]] std::shared_ptr<rocksdb::Cache> block_cache(std::size_t bytes);

}  // namespace evershard::storage
