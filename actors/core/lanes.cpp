#include "evershard/actors/core/lanes.hpp"

#include <algorithm>

namespace evershard::actors {

void Lanes::find(Attempt& attempt) {
  attempt.lanes.clear();
  const auto& prepared = attempt.prepared;
  const std::size_t written = prepared.append.aggregates.size();
  for (std::size_t i = 0; i != written + prepared.guards.size(); ++i) {
    const auto& aggregate = prepared.aggregate(i);
    if (!std::binary_search(attempt.shards.begin(), attempt.shards.end(), aggregate.shard)) continue;
    attempt.lanes.push_back({&lane(aggregate), static_cast<std::uint32_t>(i), i < written});
  }
}

const Lane* Lanes::of(sharding::Term stream, std::string_view text) const {
  const auto [begin, end] = lanes_.equal_range(stream);
  const auto at = std::find_if(begin, end, [&](const auto& lane) { return lane.second->text == text; });
  return at == end ? nullptr : at->second.get();
}

Lane& Lanes::lane(const storage::EncodedAggregate& aggregate) {
  const auto [begin, end] = lanes_.equal_range(aggregate.stream);
  for (auto at = begin; at != end; ++at) {
    if (at->second->text == aggregate.text) return *at->second;
  }
  Lane& added = *lanes_.emplace(aggregate.stream, std::make_unique<Lane>())->second;
  added.shard = aggregate.shard;
  added.stream = aggregate.stream;
  added.text = aggregate.text;
  return added;
}

bool Lanes::free(const Attempt& attempt, bool may_build) const {
  return std::all_of(attempt.lanes.begin(), attempt.lanes.end(), [&](const Attempt::OnLane& on) {
    if (on.lane->undecided != nullptr && !(may_build && on.writes && on.lane->builds)) return false;
    for (const Lane::Entry& entry : on.lane->queue) {
      if (entry.number >= attempt.number) break;
      if (on.writes || entry.writes) return false;
    }
    return true;
  });
}

std::size_t Lanes::waiting(const Attempt& attempt) {
  std::size_t longest = 0;
  for (const auto& on : attempt.lanes) longest = std::max(longest, on.lane->queue.size());
  return longest;
}

void Lanes::queue(const std::shared_ptr<Attempt>& attempt) {
  if (attempt->queued) return;
  attempt->queued = true;
  for (const auto& on : attempt->lanes) {
    auto& queue = on.lane->queue;
    const auto at =
        std::find_if(queue.rbegin(), queue.rend(), [&](const Lane::Entry& e) { return e.number < attempt->number; });
    queue.insert(at.base(), {attempt->number, attempt, on.writes});
  }
}

void Lanes::leave(Attempt& attempt, std::vector<std::shared_ptr<Attempt>>& next) {
  if (!attempt.queued) return;
  attempt.queued = false;
  for (const auto& on : attempt.lanes) {
    std::erase_if(on.lane->queue, [&](const Lane::Entry& e) { return e.attempt.get() == &attempt; });
    heads(*on.lane, next);
  }
}

void Lanes::heads(const Lane& lane, std::vector<std::shared_ptr<Attempt>>& next) {
  if (lane.undecided != nullptr && !lane.builds) return;
  for (const Lane::Entry& entry : lane.queue) {
    if (entry.attempt->state == Attempt::State::queued) next.push_back(entry.attempt);
    if (entry.writes) break;
  }
}

void Lanes::tidy(Lane* lane) {
  if (!lane->idle()) return;
  const auto [begin, end] = lanes_.equal_range(lane->stream);
  for (auto at = begin; at != end; ++at) {
    if (at->second.get() != lane) continue;
    lanes_.erase(at);
    return;
  }
}

}  // namespace evershard::actors
