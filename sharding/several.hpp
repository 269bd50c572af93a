// An append over several shards, as the coordinator sees it: which of its parts are reported.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "evershard/protocol/check.hpp"
#include "evershard/sharding/reports.hpp"

namespace evershard::sharding {

struct Reports::Several {
  struct Part {
    ShardId shard{};
    std::uint32_t events = 0;
    bool reported = false;
    ShardOffset first{};
    std::uint32_t emitted = 0;  ///< while a cut is made
  };

  EventId id;
  std::vector<std::pair<ShardId, std::uint32_t>> runs;
  std::vector<Part> parts;  ///< by shard
  std::size_t reported = 0;
  std::vector<TermCondition> conditions;  ///< with the largest `from` of the parts
  std::uint32_t cuts_held = 0;            ///< since its newest part came

  // While a cut is made:
  bool refused = false;
  std::size_t heads = 0;  ///< at the head of how many queues
  bool walked = false;

  [[nodiscard]] bool complete() const { return reported == parts.size(); }
  [[nodiscard]] Part& part(ShardId shard) {
    for (Part& part : parts) {
      if (part.shard == shard) return part;
    }
    EVERSHARD_CHECK(false, "a part lies on a shard of its append");
    return parts.front();
  }
};

}  // namespace evershard::sharding
