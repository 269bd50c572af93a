// JoinedOrder: the order as one process would have it, from what several nodes keep of a cluster's.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut.hpp"

namespace evershard::sharding {

/// Of each node's cuts it takes the shards that are given with them, and puts them together by position. What was
/// refused goes: each shard's offsets begin at 1 and have no hole, whatever they were. All of it is of epoch 1.
///
/// Owner: one thread. Memory: a cut of each part.
class JoinedOrder {
 public:
  struct Part {
    /// Cuts as that node keeps them, in order; nothing: there are no more.
    std::function<Result<std::optional<Cut>>()> next;
    std::vector<ShardId> shards;  ///< that are taken from it
  };
  /// `end`: the last position that is wanted. Shape: no shard is in two parts.
  JoinedOrder(std::vector<Part> parts, std::uint32_t shards, GlobalPosition end);

  /// The next cut that placed something, numbered from 1 on; nothing: that was the last one.
  ///
  /// Errors: corruption: positions are in no part, or in two; numbers do not ascend; whatever a part says
  [[nodiscard]] Result<std::optional<Cut>> next();
  /// Behind the last offset of each shard so far.
  [[nodiscard]] const std::vector<ShardOffset>& ends() const { return ends_; }

 private:
  struct Placed {
    GlobalPosition at;
    ShardId shard;
    std::uint64_t events = 0;
    CutNumber cut;
  };
  struct Source {
    Part part;
    std::vector<bool> takes;
    std::deque<Placed> placed{};
    bool over = false;
  };
  Result<void> fill(Source& source);
  /// Who has the next position. Errors: corruption: nobody, or two
  Result<Source*> whose();

  const GlobalPosition end_;
  std::vector<Source> sources_;
  std::vector<ShardOffset> ends_;
  GlobalPosition next_{1};
  CutNumber last_;  ///< as it was numbered there
  CutNumber number_;
};

}  // namespace evershard::sharding
