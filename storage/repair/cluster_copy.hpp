// ClusterCopy: one process's store, while it is being made of the parts that a cluster's nodes give.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/progress.hpp"
#include "evershard/storage/repair/joined_parts.hpp"

namespace evershard::storage {

/// The rows of one part, as they come; in a folder of their own.
///
/// Owner: one thread.
class PartFolder {
 public:
  virtual ~PartFolder() = default;
  /// Shape: a row of the truth (give_part). Errors: io
  virtual Result<void> put(Family family, std::string_view key, std::string_view value) = 0;
  /// All rows are here. Errors: io
  virtual Result<void> finish() = 0;
};

/// A part that is here, and which shards are taken from it.
struct GivenPart {
  std::uint32_t number = 0;  ///< as it was begun under
  Identity identity;
  std::vector<ShardId> shards;
};

struct ClusterCopyOptions {
  GlobalPosition keeps;     ///< the end of an append, or 0; every part goes so far
  bool truth_only = false;  ///< without indexes, as BackupOptions has it
  std::string types{};      ///< what is in the nodes' TYPES; empty: they have none
  std::function<void(const AggregateId& aggregate)> without_state{};  ///< as in RestoreOptions, like the next field
  std::function<void(const std::string& what)> left_out{};
};

/// It lies in "<target>.part" until it is whole: what bears the target's name is. Given up, it takes what it made away;
/// a rest of an earlier try is replaced.
class ClusterCopy {
 public:
  /// Errors: invalid_argument (the target holds something), io
  static Result<std::unique_ptr<ClusterCopy>> begin(const std::filesystem::path& target);
  virtual ~ClusterCopy() = default;

  /// Begins a new part. A part that was begun under this number before is deleted. Errors: io
  virtual Result<std::unique_ptr<PartFolder>> begin_part(std::uint32_t number) = 0;
  /// Makes the store of these parts, with its indexes, and verifies it; the parts go.
  ///
  /// Errors:  invalid_argument (`keeps` lies inside of an append: named), corruption, cancelled, io
  /// Durable: on return.
  /// Memory:  up to 300 MB while indexes are made.
  virtual Result<void> finish(const std::vector<GivenPart>& parts, const ClusterCopyOptions& how,
                              const Progress& progress) = 0;
  /// The same of parts that lie elsewhere, as of nodes that are stopped; they stay as they are.
  virtual Result<void> finish_from(const std::vector<StorePart>& parts, const ClusterCopyOptions& how,
                                   const Progress& progress) = 0;
};

}  // namespace evershard::storage
