// RocksCutLog: the durable cut log, a RocksDB of its own.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut_log.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/progress.hpp"

namespace rocksdb {
class Env;
}

namespace evershard::storage {

/// A log that begins behind cuts that nobody has any more.
struct CutLogBeginning {
  Identity identity;
  sharding::CutLogState state;
};

struct CutLogOptions {
  std::filesystem::path data_dir{};
  std::uint32_t shards = 0;  ///< 0: what the log has; 16 for a new one
  bool create = true;        ///< create the log if it is not there
  bool read_only = false;    ///< look, change nothing: no lock; whoever asks sees that nobody has it open
  std::optional<CutLogBeginning> begins_with{};  ///< of a new log; one that is there is refused
  rocksdb::Env* env = nullptr;                   ///< for tests: fault injection; nullptr: the real one
};

/// The log and which cluster it is of: its store id, shard count, hash and key of the terms go to every node.
class DurableCutLog : public sharding::CutLog {
 public:
  [[nodiscard]] virtual const Identity& identity() const = 0;
};

/// What is in a log that nobody has open.
struct CutLogCheck {
  Identity identity;
  sharding::CutLogState state;
  std::uint64_t cuts = 0;  ///< rows: not folded yet
};

/// Reads every block and every row, and changes nothing.
///
/// Errors: those of open_cut_log; corruption: the first that is damaged, missing, or does not follow; cancelled
[[nodiscard]] Result<CutLogCheck> check_cut_log(const std::filesystem::path& data_dir, const Progress& progress = {});

/// The folder: `db/` RocksDB's, `OWNER` who has it open.
///
/// Errors:  not_found (there is none and `create` is off), unavailable (open already: by whom), invalid_argument
///          (another number of shards, another hash, a newer format, a store's folder), corruption (a row is damaged or
///          missing: which), io
/// Durable: every put, and every change of epoch, is synced on return.
/// Source:  docs/internals/on-disk-format.md, "Cut log".
Result<std::unique_ptr<DurableCutLog>> open_cut_log(const CutLogOptions& options);

}  // namespace evershard::storage
