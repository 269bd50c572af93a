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

/// Of `bytes`; 0: the one that all who ask so have together, of shared_cache_bytes(). It is gone with the last of them.
[[nodiscard]] std::shared_ptr<rocksdb::Cache> block_cache(std::size_t bytes);

}  // namespace evershard::storage
