// What a node keeps of its shards: the truth, written whole, commit by commit.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/ordering.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/journal/commit_batch.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/journal/view.hpp"

namespace evershard::storage {

class StoreMaintenance;

/// A batch with all its bytes made and its events in the tail, above the watermark; only the write is missing.
class StagedCommit {
 public:
  virtual ~StagedCommit() = default;
};

/// What the store says to whoever wants to append more.
struct Admission {
  enum class Kind : std::uint8_t {
    open,
    slow,    ///< sealing lags behind: wait `delay_us` before the next batch
    full,    ///< overloaded
    disk,    ///< unavailable: free space is below the reserve
    failed,  ///< io: the store has failed for good
  };
  Kind kind = Kind::open;
  std::uint32_t delay_us = 0;
  std::string what{};
};

struct StoreStats {
  GlobalPosition watermark;
  GlobalPosition mark;
  std::uint64_t tail_events = 0;
  std::uint64_t tail_bytes = 0;
  std::uint64_t sealed_runs = 0;  ///< since open
  std::uint64_t commits = 0;      ///< since open
  std::uint64_t disk_bytes = 0;
  std::uint64_t disk_free_bytes = 0;
  std::uint64_t memory_bytes = 0;                                ///< the table of memory, added up as it is now
  bool backend_assertions = false;                               ///< RocksDB was built with its assertions
  std::vector<std::pair<std::string, std::uint64_t>> details{};  ///< files, bytes, memory by family and part
};

/// The journal, the order, the indexes and the state rows of all shards of one node.
///
/// Implementations: RocksStore (durable), MemoryStore (tests, simulation, embedding). Both pass
/// tests/contract/store_contract.hpp, which states in full what follows.
/// Owner:  one committer stages and commits; any number of readers read meanwhile.
/// Source: docs/internals/on-disk-format.md.
class Store {
 public:
  virtual ~Store() = default;

  [[nodiscard]] virtual const Identity& identity() const = 0;
  /// How terms are hashed in this store: under its key, and its options' mask (an implementation with one overrides
  /// it).
  [[nodiscard]] virtual sharding::TermHasher hasher() const { return sharding::TermHasher(identity().term_key); }
  /// Where the order stood when the store was opened.
  [[nodiscard]] virtual sharding::OrderState recovered() const = 0;

  /// Makes records, rows and tail entries. Needs no disk: runs while the commit before is still being synced.
  ///
  /// Shape: batches are staged in the order of their cuts; offsets ascend in each shard and lie behind its head.
  /// Cost:  about 1 us an event.
  [[nodiscard]] virtual std::unique_ptr<StagedCommit> stage(const CommitBatch& batch) = 0;

  /// Writes the whole batch or nothing; then shows it to readers.
  ///
  /// Shape:   in the order of staging.
  /// Errors:  io  the store has failed for good: nothing more is written, the outcome of this batch is unknown.
  /// Durable: on return the batch is synced; it survives loss of power.
  /// Cost:    one write and one sync, whatever the batch's size and number of shards.
  [[nodiscard]] virtual Result<void> commit(StagedCommit& staged) = 0;

  /// Any thread.
  [[nodiscard]] virtual Admission admission() const = 0;
  [[nodiscard]] virtual View view() const = 0;
  [[nodiscard]] virtual const Rows& rows() const = 0;
  /// What readers take for removed before its records say so. What was not done when the store was closed is in it at
  /// opening.
  [[nodiscard]] virtual RemovalMask& removals() = 0;

  /// Seals what the tail holds and waits until it is done. Errors: io
  virtual Result<void> seal() = 0;
  [[nodiscard]] virtual StoreStats stats() const = 0;

  /// For verify, backup and vacuum; nothing where there are no files.
  [[nodiscard]] virtual std::shared_ptr<StoreMaintenance> maintenance() const { return nullptr; }

  /// Stops background work and closes; nothing acknowledged is lost without it.
  virtual void close() = 0;
};

}  // namespace evershard::storage
