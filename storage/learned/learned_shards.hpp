// LearnedShards: what a node is given of shards that it did not keep, beside its store, until all of it is there.

#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/storage/journal/shipped_rows.hpp"
#include "evershard/storage/options.hpp"

namespace evershard::storage {

/// The order as it is to be, of all shards that the node keeps then, and where it ends.
struct LearnedOrder {
  struct Shard {
    ShardId shard;
    ShardOffset end{1};    ///< the first offset that these cuts do not cover
    Epoch epoch{};         ///< under which what is covered last was written; 0: nothing is
    bool learned = false;  ///< its journal is the one that was given; else the one that is here stays
    // As Covered has them, where it was learned.
    ShardOffset settled{0};
    Epoch followed{};
    friend bool operator==(const Shard&, const Shard&) = default;
  };
  CutNumber last_cut{};
  GlobalPosition watermark{};
  Epoch coordinator{};
  std::vector<Shard> shards{};               ///< ascending
  std::vector<sharding::Segment> refused{};  ///< behind the last cut that placed something
  friend bool operator==(const LearnedOrder&, const LearnedOrder&) = default;
};

/// In the folder `learned` of the node's directory: sorted files of the journal, which an interrupted learning goes on
/// with, and of the order, which is made in one go. They become the store's when it is opened the next time
/// (take_learned.hpp).
///
/// Owner: one thread. The store may be open. Durable: what is in files that were ended; all of it once finish() has
/// returned.
class LearnedShards {
 public:
  /// Errors: invalid_argument (a store in memory), io
  static Result<std::unique_ptr<LearnedShards>> open(const StoreOptions& options);
  ~LearnedShards();
  LearnedShards(const LearnedShards&) = delete;

  /// Up to where the shard's journal is here.
  [[nodiscard]] ShardOffset end(ShardId shard) const;
  /// What was given of other shards than these goes.
  Result<void> keep_only(const std::vector<ShardId>& shards);
  /// Of `rows`, which begin at end(): the records that cuts have decided. Errors: corruption: damaged, or not of the
  /// shape that they must have; io
  Result<void> add(const ShippedRows& rows);

  /// Begins the order anew.
  Result<void> begin_order();
  /// Shape: cuts that place something, in order.
  Result<void> add(const sharding::Cut& cut);
  /// All is here: it is the store's from its next opening on.
  Result<void> finish(const LearnedOrder& order);

  /// Nothing is learned any more. Errors: io
  static Result<void> forget(const std::filesystem::path& data_dir);

 private:
  struct Writing;
  explicit LearnedShards(const StoreOptions& options);
  Result<void> look();
  Result<void> end_file();

  const StoreOptions options_;
  const std::filesystem::path folder_;
  std::map<ShardId, ShardOffset> ends_;
  std::unique_ptr<Writing> writing_;
};

/// Whether all is there, for the next opening of the store.
[[nodiscard]] bool has_learned(const std::filesystem::path& data_dir);

}  // namespace evershard::storage
