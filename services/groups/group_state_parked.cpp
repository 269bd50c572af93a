// GroupState's parked events: kept with their reasons, replayed, discarded.

#include <algorithm>

#include "evershard/services/groups/group_state.hpp"

namespace evershard::actors {

std::string_view GroupState::reason_of(const GroupParked& parked) const {
  if (parked.behind) return "behind an earlier parked event of its aggregate";
  return reasons_.of(parked.reason);
}

void GroupState::put_parked(std::uint64_t position, GroupParked parked, std::string_view reason) {
  if (!parked.behind) parked.reason = reasons_.add(reason);
  parked_lanes_[parked.lane].insert(position);
  parked_.emplace(position, parked);
  settled_to_ = std::max(settled_to_, GlobalPosition(position));
  ++counters_.parked;
  ++revision_;
}

void GroupState::remove_parked(std::map<std::uint64_t, GroupParked>::iterator parked) {
  reasons_.remove(parked->second.reason);
  const auto lane = parked_lanes_.find(parked->second.lane);
  lane->second.erase(parked->first);
  if (lane->second.empty()) parked_lanes_.erase(lane);
  parked_.erase(parked);
  ++revision_;
}

/// Where parked ones block, those behind it go with it, as far as there is room; the others stay, and are not given
/// out.
bool GroupState::try_park(Entries::iterator entry, std::string_view reason, std::int64_t wall_ms) {
  if (parked_full()) return false;
  const auto position = entry->first;
  const auto lane = entry->second.lane;
  const auto attempts = entry->second.attempts;
  erase(entry);
  put_parked(position, {.lane = lane, .attempts = attempts, .parked_at_ms = wall_ms}, reason);
  if (settings_.after_parked == AfterParked::block) park_behind(lane, wall_ms);
  refresh(lane);
  return true;
}

void GroupState::park_behind(std::uint64_t lane, std::int64_t wall_ms) {
  const auto known = lanes_.find(lane);
  if (known == lanes_.end()) return;
  const auto behind = known->second.positions;
  const auto out = known->second.in_flight;
  for (const auto later : behind) {
    if (parked_full()) return;
    if (later == out) continue;
    const auto waiting = entries_.find(later);
    const auto tried = waiting->second.attempts;
    erase(waiting);
    put_parked(later, {.lane = lane, .attempts = tried, .behind = true, .parked_at_ms = wall_ms}, {});
  }
}

void GroupState::unpark(std::map<std::uint64_t, GroupParked>::iterator parked) {
  const auto position = parked->first;
  const auto lane = parked->second.lane;
  remove_parked(parked);
  entries_.emplace(position, Entry{.lane = lane});
  lanes_[lane].positions.insert(position);
  refresh(lane);
}

Result<std::uint64_t> GroupState::replay(GlobalPosition position, GroupTime now) {
  see(now);
  const auto found = parked_.find(position.value);
  if (found == parked_.end())
    return refuse(ErrorCode::not_found, "position " + std::to_string(position.value) + " is not parked");
  std::set<std::uint64_t> positions{position.value};
  if (settings_.after_parked == AfterParked::block) positions = parked_lanes_.at(found->second.lane);
  for (const auto one : positions) unpark(parked_.find(one));
  counters_.replayed += positions.size();
  return positions.size();
}

std::uint64_t GroupState::replay_all(GroupTime now) {
  see(now);
  const auto count = parked_.size();
  while (!parked_.empty()) unpark(parked_.begin());
  counters_.replayed += count;
  return count;
}

Result<std::uint64_t> GroupState::discard(GlobalPosition position, GroupTime now) {
  see(now);
  const auto found = parked_.find(position.value);
  if (found == parked_.end())
    return refuse(ErrorCode::not_found, "position " + std::to_string(position.value) + " is not parked");
  const auto lane = found->second.lane;
  const bool first = *parked_lanes_.at(lane).begin() == position.value;
  remove_parked(found);
  ++counters_.discarded;
  if (const auto rest = parked_lanes_.find(lane); first && rest != parked_lanes_.end()) {
    const auto positions = rest->second;
    for (const auto one : positions) {
      const auto behind = parked_.find(one);
      if (!behind->second.behind) break;  // failed itself: it goes on blocking
      unpark(behind);
    }
  }
  refresh(lane);
  return 1;
}

std::uint64_t GroupState::discard_all(GroupTime now) {
  see(now);
  const auto count = parked_.size();
  while (!parked_.empty()) remove_parked(std::prev(parked_.end()));
  counters_.discarded += count;
  refresh_all();
  return count;
}

}  // namespace evershard::actors
