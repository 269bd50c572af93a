// TruthWalk: every event of a range of positions, by the truth alone, and every place where it has a hole.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/runs.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::storage {

/// Is told what a walk meets: cuts in order, events in no order between shards.
class TruthVisitor {
 public:
  virtual ~TruthVisitor() = default;
  virtual void cut(const sharding::Cut& cut);
  virtual void record(ShardId shard, ShardOffset first, std::string_view bytes);
  virtual void event(GlobalPosition position, const EventLocation& location, const EventView& event) = 0;
  /// Positions [from, from + count) have no event to be read: `why` names shard and offset, or the cut.
  virtual void missing(GlobalPosition from, std::uint64_t count, const std::string& why);
  /// Of the same: it is the cut that is missing, so that nobody knows which events these are.
  virtual void missing_cut(GlobalPosition from, std::uint64_t count, const std::string& why);
  /// What is there contradicts itself.
  virtual void contradiction(const std::string& what);
};

/// Goes through the cuts in groups, and through the journal shard by shard, as indexes are rebuilt. A damaged block
/// costs the rows in it and no other.
class TruthWalk {
 public:
  /// `of`: a node's, where positions may lie elsewhere.
  TruthWalk(const Rows& rows, std::uint32_t shards, TruthVisitor& visitor, sharding::CutOf of = sharding::CutOf::store)
      : rows_(rows), visitor_(visitor), of_(of), next_offset_(shards) {}

  /// Positions [from, until), and whatever else is in their cuts.
  ///
  /// Units:  progress in positions.
  /// Errors: cancelled; unavailable (closed meanwhile)
  Result<void> run(GlobalPosition from, GlobalPosition until, const Progress& progress = {});

 private:
  Result<void> take_cut(const sharding::Cut& cut);
  Result<void> gather();
  Result<void> gather_shard(std::size_t begin, std::size_t end);

  const Rows& rows_;
  TruthVisitor& visitor_;
  const sharding::CutOf of_;
  std::vector<ShardOffset> next_offset_;  // 0: not known
  CutNumber number_;
  std::vector<sharding::Run> runs_;
  std::uint64_t events_ = 0;
};

}  // namespace evershard::storage
