// Cuts in a word, for tests of what stores and follows them.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/cut_log_state.hpp"

namespace evershard::sharding {

inline Segment segment_of(std::uint16_t shard, std::uint64_t epoch, std::uint64_t first, std::uint64_t end,
                          std::vector<ShardOffset> refused = {}) {
  return {ShardId{shard}, Epoch{epoch}, ShardOffset{first}, ShardOffset{end}, std::move(refused)};
}
inline Opening opening_of(std::uint16_t shard, std::uint64_t epoch, std::uint32_t node, std::uint64_t tail) {
  return {ShardId{shard}, Epoch{epoch}, node, ShardOffset{tail}};
}
/// The cut that comes next after `state`.
inline Cut next_cut(const CutLogState& state, std::vector<Segment> segments, std::vector<Opening> openings = {}) {
  return {state.last_cut + 1, state.epoch, state.watermark + 1, std::move(segments), std::move(openings)};
}

}  // namespace evershard::sharding
