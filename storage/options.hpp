// Options of a store: sizes, pace, memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/timestamp.hpp"
#include "evershard/storage/progress.hpp"

namespace rocksdb {
class Env;
}

namespace evershard::storage {

/// Which part of which cluster's store a node keeps.
struct ClusterMember {
  std::uint32_t node = 0;  ///< from 1
  EventId store;           ///< the cluster's: the same on all its nodes, as are the next three
  EventId fork;
  std::uint64_t term_key = 0;
  Timestamp created_at;
};

struct StoreOptions {
  std::filesystem::path data_dir{};       ///< empty: in memory
  std::uint32_t shards = 0;               ///< 0: what the store has; 16 for a new one
  bool create = true;                     ///< create the store if it is not there
  std::optional<ClusterMember> member{};  ///< a node's store; absent: the whole store in one process
  bool read_only = false;                 ///< look, change nothing: no lock, no rebuild, no sealing
  /// Opens although less was recovered than was acknowledged; `evershard recover` sets it after saying what is lost.
  bool accept_loss = false;

  std::size_t tail_events = 262'144;       ///< a tail is sealed at about this many
  std::size_t tail_bytes_max = 96u << 20;  ///< or at this memory
  std::size_t record_bytes = 4u << 10;     ///< a commit's record of a shard is split at about this
  std::size_t block_cache_bytes = 0;       ///< 0: an eighth of the machine's memory, shared by the process's stores
  std::size_t memtable_bytes = 32u << 20;
  std::size_t wal_bytes_max = 256u << 20;
  std::size_t log_zeros_max = 4u << 20;         ///< zeros that are put ahead of what is written to the log; 0: none
  std::size_t disk_reserve_bytes = 256u << 20;  ///< appends are refused below this much free space
  std::size_t seal_bytes_per_second = 0;        ///< 0: paced by the append rate

  /// Told while what was not sealed is read back at opening, in events; false ends the opening (`cancelled`).
  Progress reading_back{};

  // For tests.
  rocksdb::Env* env = nullptr;                      ///< fault injection; nullptr: the real one
  std::uint64_t term_mask = ~std::uint64_t{0};      ///< narrows every term hash, to force collisions
  std::function<void(const char* step)> at_step{};  ///< called between the steps of sealing, committing and opening
};

}  // namespace evershard::storage
