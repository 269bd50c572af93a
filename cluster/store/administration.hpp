// Administration: what an operator asks of a running store, in this process or of a server.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

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

/// From any thread, while everything else goes on.
class Administration {
 public:
  virtual ~Administration() = default;

  [[nodiscard]] virtual Result<StoreStats> stats() const = 0;
  /// Seals the tail: the next opening has nothing to rebuild.
  [[nodiscard]] virtual Result<void> flush() = 0;
  /// Checks everything while running: records, order, indexes against a rebuild. Errors: io, cancelled; damage is in the report.
  [[nodiscard]] virtual Result<VerifyReport> verify(Progress progress = {}) = 0;
  /// Reclaims what removals and superseded rows left.
  [[nodiscard]] virtual Result<void> vacuum(Progress progress = {}) = 0;
  /// A copy, opened by itself like any store, while this one runs; the directory is one of the machine the store runs on.
  /// Errors: invalid_argument (the target is not empty), io
  [[nodiscard]] virtual Result<void> backup(const std::filesystem::path& target, Progress progress = {}) = 0;
};

}  // namespace evershard
