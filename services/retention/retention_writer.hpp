// RetentionWriter: how retention writes to a store: in one process, or to a node's part of a cluster.

#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "evershard/api/administration.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/commit_batch.hpp"

namespace evershard::cluster {

/// One operation at a time, all calls from its thread.
class RetentionWriter {
 public:
  virtual ~RetentionWriter() = default;

  /// An operation begins: what it writes is written while what is here now still is.
  virtual void begin() {}
  /// Asked every few milliseconds while a write waits; what it refuses with ends the write, and nothing was written.
  /// Empty: nobody asks.
  void while_waiting(std::function<Result<void>()> go_on) { go_on_ = std::move(go_on); }
  /// Of events and appends.
  [[nodiscard]] virtual const Limits& limits() const = 0;
  /// Events of this shard are here, and are this store's to remove.
  [[nodiscard]] virtual bool has(ShardId) const { return true; }
  /// Whatever was written to the aggregate before has its place, or none: what is read afterwards has it. Errors:
  /// unavailable, wrong_shard
  [[nodiscard]] virtual Result<void> wait_settled(const AggregateId&) { return {}; }

  /// The events are appended and the rows written: both or neither, wherever it is broken off.
  ///
  /// Shape:  records that are rewritten are so whatever becomes of the events.
  /// Errors: version_conflict, too_large: nothing was written. unavailable, timeout: it is not known; where they are
  /// appended, settle() writes the rows
  [[nodiscard]] virtual Result<void> append_with(Append append, storage::RowWrites rows) = 0;
  /// All or none. Shape: of the records, nobody else rewrites them meanwhile, and their events are shown.
  [[nodiscard]] virtual Result<void> write_rows(storage::RowWrites rows) = 0;

  struct Unsettled {
    std::optional<AggregateId> aggregate{};  ///< whose history hangs on it
    Error why;
  };
  /// What an append_with() left of which it was not known, is finished. Returns: what cannot be yet, and why. Errors:
  /// cancelled (by progress), corruption, io
  [[nodiscard]] virtual Result<std::vector<Unsettled>> settle(const Progress& progress) {
    (void)progress;
    return std::vector<Unsettled>{};
  }

 protected:
  [[nodiscard]] const std::function<Result<void>()>& go_on() const { return go_on_; }

 private:
  std::function<Result<void>()> go_on_;
};

}  // namespace evershard::cluster
