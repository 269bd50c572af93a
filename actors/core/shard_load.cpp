#include "evershard/actors/core/shard_load.hpp"

#include <algorithm>
#include <string>

namespace evershard::actors {
namespace {

/// The shards of an append, each once; in a buffer of the thread's own. The first is the first event's.
const std::vector<ShardId>& shards_of(const storage::EncodedAppend& append) {
  thread_local std::vector<ShardId> shards;
  shards.clear();
  for (const auto& event : append.events) {
    if (shards.empty() || shards.back() != event.shard) shards.push_back(event.shard);
  }
  if (shards.size() > 1) {
    std::sort(shards.begin() + 1, shards.end());
    shards.erase(std::unique(shards.begin() + 1, shards.end()), shards.end());
    shards.erase(std::remove(shards.begin() + 1, shards.end(), shards.front()), shards.end());
  }
  return shards;
}

}  // namespace

ShardLoad::ShardLoad(std::uint32_t shards, const Limits& limits)
    : appends_max_(limits.shard_queue_appends_max), bytes_max_(limits.shard_queue_bytes_max), shards_(shards) {}

// A single append larger than the bound is taken where nothing else waits: it would otherwise never be.
bool ShardLoad::fits(Shard& shard, std::size_t bytes) const {
  const auto appends = shard.appends.fetch_add(1, std::memory_order_relaxed);
  const auto before = shard.bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (appends < appends_max_ && (before == 0 || before + bytes <= bytes_max_)) return true;
  shard.appends.fetch_sub(1, std::memory_order_relaxed);
  shard.bytes.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

Result<void> ShardLoad::take(const storage::EncodedAppend& append, std::size_t bytes) {
  const auto& shards = shards_of(append);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (fits(shards_[shards[i].value], i == 0 ? bytes : 0)) continue;
    for (std::size_t taken = 0; taken < i; ++taken) {
      auto& shard = shards_[shards[taken].value];
      shard.appends.fetch_sub(1, std::memory_order_relaxed);
      shard.bytes.fetch_sub(taken == 0 ? bytes : 0, std::memory_order_relaxed);
    }
    ErrorDetails details;
    details.shard = shards[i];
    return refuse(ErrorCode::overloaded,
                  "shard " + std::to_string(shards[i].value) + " has as many appends waiting as it may: " +
                      std::to_string(appends_max_) + ", or " + std::to_string(bytes_max_) + " bytes",
                  std::move(details));
  }
  return {};
}

void ShardLoad::give_back(const storage::EncodedAppend& append, std::size_t bytes) {
  const auto& shards = shards_of(append);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    auto& shard = shards_[shards[i].value];
    shard.appends.fetch_sub(1, std::memory_order_relaxed);
    if (i == 0) shard.bytes.fetch_sub(bytes, std::memory_order_relaxed);
  }
}

}  // namespace evershard::actors
