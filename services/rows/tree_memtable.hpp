// The memtable of projections: what RocksDB keeps in memory of a family until it is written to files, in an EntryTree.

#pragma once

#include <memory>

namespace rocksdb {
class MemTableRepFactory;
}

namespace evershard::storage {

/// For families whose keys are ordered byte by byte, without time stamps of the user's, in a database with
/// `allow_concurrent_memtable_write` off; without tailing iterators, `unordered_write` and purging in memory. Estimates
/// of what lies in memtables are 0.
[[nodiscard]] std::shared_ptr<rocksdb::MemTableRepFactory> tree_memtables();

}  // namespace evershard::storage
