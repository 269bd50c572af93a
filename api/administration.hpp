// Administration: what an operator asks of a running store, in this process or of a server.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/latencies.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard {

/// Which store it is.
struct StoreInfo {
  std::string store_id;
  std::uint32_t shards = 0;
  std::uint32_t format = 0;
  std::uint32_t hash = 0;
  Timestamp created_at;
  std::string
      fork_id{};  ///< another one in every backup, clone and restored store: from there on they are not the same
};

/// Figures of a running store; details by family and part.
struct StoreStats {
  StoreInfo info;
  GlobalPosition watermark;
  GlobalPosition sealed;  ///< indexes up to here lie in sorted files
  std::uint64_t tail_events = 0;
  std::uint64_t commits = 0;
  std::uint64_t appends = 0;
  std::uint64_t refused = 0;
  std::uint64_t disk_bytes = 0;
  std::uint64_t disk_free_bytes = 0;
  std::uint64_t memory_bytes = 0;
  bool backend_assertions = false;
  Latencies commit_latencies{};  ///< of writes with their sync, since open
  std::vector<std::pair<std::string, std::uint64_t>> details;
};

/// Long work reports how far it is, in its own unit; false stops it at the next safe point (`cancelled`).
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

/// What verify found. Errors found are listed, at most 100, each a sentence that names shard and offset, or file.
struct VerifyReport {
  std::uint64_t events = 0;
  std::uint64_t records = 0;
  std::uint64_t index_rows = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t errors = 0;
  std::vector<std::string> findings;
};

struct BackupOptions {
  /// Journal, order and state without the indexes: less than half of the size. Not opened, but restored: that makes
  /// them anew.
  bool truth_only = false;
  /// A clone that ends with this position, as if nothing behind it had ever been appended. Absent: where the store
  /// ends.
  std::optional<GlobalPosition> up_to{};
  /// Called for aggregates whose state cannot be made in a copy up to a position: events that were there then were
  /// removed since, and the snapshot that stands for them is of a later version. In the caller's thread, before
  /// `backup` returns. May be absent.
  std::function<void(const AggregateId& aggregate)> without_state{};
  /// Told of each snapshot that is damaged and that a copy of the truth, or up to a position, does without: a sentence.
  /// In the caller's thread, before `backup` returns. May be absent.
  std::function<void(const std::string& what)> left_out{};
};

/// What an operator asks of a store. From any thread, while reads and appends go on.
class Administration {
 public:
  virtual ~Administration() = default;

  [[nodiscard]] virtual Result<StoreStats> stats() const = 0;
  /// Seals the tail: the next opening has nothing to rebuild.
  [[nodiscard]] virtual Result<void> flush() = 0;
  /// Checks everything while running: records, order, indexes against a rebuild. Errors: io, cancelled; damage is in
  /// the report.
  [[nodiscard]] virtual Result<VerifyReport> verify(Progress progress = {}) = 0;
  /// Reclaims what removals and superseded rows left.
  [[nodiscard]] virtual Result<void> vacuum(Progress progress = {}) = 0;
  /// A copy, opened by itself like any store, while this one runs; the directory is one of the machine the store runs
  /// on. What is not linked but written anew is verified.
  ///
  /// Returns: the position it ends with.
  /// Errors:  invalid_argument (the target is not empty; `up_to` is behind the end, or inside of an append, whose first
  ///          and last position are named), unavailable (this store's disk is full), corruption, cancelled, io
  [[nodiscard]] virtual Result<GlobalPosition> backup(const std::filesystem::path& target, BackupOptions options = {},
                                                      Progress progress = {}) = 0;
  [[nodiscard]] Result<GlobalPosition> backup(const std::filesystem::path& target, Progress progress) {
    return backup(target, BackupOptions{}, std::move(progress));
  }
};

/// All of it as another one does it: for who offers a store, and has somebody who administrates it. Here a new
/// operation has its line for all of them: Local, Remote, the command line.
class ForwardedAdministration : public Administration {
 public:
  Result<StoreStats> stats() const final { return administration().stats(); }
  Result<void> flush() final { return administration().flush(); }
  Result<VerifyReport> verify(Progress progress = {}) final { return administration().verify(std::move(progress)); }
  Result<void> vacuum(Progress progress = {}) final { return administration().vacuum(std::move(progress)); }
  using Administration::backup;
  Result<GlobalPosition> backup(const std::filesystem::path& target, BackupOptions options = {},
                                Progress progress = {}) final {
    return administration().backup(target, options, std::move(progress));
  }

 private:
  [[nodiscard]] virtual Administration& administration() const = 0;
};

}  // namespace evershard
