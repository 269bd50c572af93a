#include "evershard/services/groups/group_state.hpp"

#include <algorithm>

#include "evershard/protocol/check.hpp"

namespace evershard::actors {

GroupState::GroupState(GroupSettings settings, GlobalPosition start, std::uint64_t seed, std::uint64_t deliveries_from)
    : settings_(settings),
      start_(start),
      read_to_(start),
      settled_to_(start),
      next_delivery_(deliveries_from),
      random_(seed) {}

void GroupState::change(const GroupSettings& settings, std::int64_t wall_ms) {
  const auto order = settings_.order;
  settings_ = settings;
  settings_.order = order;
  if (settings_.after_parked == AfterParked::block) {
    std::vector<std::uint64_t> lanes;
    for (const auto& [lane, positions] : parked_lanes_) lanes.push_back(lane);
    for (const auto lane : lanes) park_behind(lane, wall_ms);
  }
  refresh_all();
}

void GroupState::read(std::span<const GroupEvent> events, GlobalPosition to, std::int64_t wall_ms) {
  for (const auto& event : events) {
    if (event.position <= read_to_) continue;
    read_to_ = event.position;
    place_.add({event.position, event.id});
    const auto lane = settings_.order == GroupOrder::global ? 0 : event.lane;
    if (blocked(lane) && !parked_full()) {
      put_parked(event.position.value, {.lane = lane, .behind = true, .parked_at_ms = wall_ms}, {});
      continue;
    }
    entries_.emplace(event.position.value, Entry{.lane = lane});
    lanes_[lane].positions.insert(event.position.value);
    refresh(lane);
  }
  read_to_ = std::max(read_to_, to);
}

/// The first unsettled event of a lane is ready, unless one is out, it waits for a retry, or a parked one blocks it.
void GroupState::refresh(std::uint64_t number) {
  const auto found = lanes_.find(number);
  if (found == lanes_.end()) return;
  auto& lane = found->second;
  if (lane.ready != 0) {
    ready_[lane.ready_for].erase(lane.ready);
    lane.ready = 0;
  }
  if (lane.positions.empty()) {
    lanes_.erase(found);
    return;
  }
  if (lane.in_flight != 0 || blocked(number)) return;
  const auto head = entries_.find(*lane.positions.begin());
  if (head->second.waits) return;
  lane.ready = head->first;
  lane.ready_for = owner_of(number);
  ready_[lane.ready_for].insert(lane.ready);
}

void GroupState::refresh_all() {
  std::vector<std::uint64_t> lanes;
  lanes.reserve(lanes_.size());
  for (const auto& [number, lane] : lanes_) lanes.push_back(number);
  for (const auto number : lanes) refresh(number);
}

void GroupState::set_timer(Entries::iterator entry, GroupTime due) {
  clear_timer(entry);
  entry->second.due = due;
  timers_.emplace(due, entry->first);
}

void GroupState::clear_timer(Entries::iterator entry) {
  if (entry->second.due != 0) timers_.erase({entry->second.due, entry->first});
  entry->second.due = 0;
}

std::vector<GroupDelivered> GroupState::deliver(GroupTime now) {
  see(now);
  std::vector<GroupDelivered> out;
  for (auto& [id, worker] : workers_) {
    auto& ready = ready_[id];
    while (worker.in_flight.size() < worker.credit && !ready.empty()) {
      const auto entry = entries_.find(*ready.begin());
      auto& lane = lanes_[entry->second.lane];
      EVERSHARD_CHECK(lane.in_flight == 0 && lane.ready == entry->first,
                      "one event of a lane is out at a time, and it is the first");
      ready.erase(ready.begin());
      lane.ready = 0;
      lane.in_flight = entry->first;
      entry->second.worker = id;
      entry->second.delivery = next_delivery_++;
      entry->second.begun = false;
      set_timer(entry, now_ + settings_.lease.count());
      worker.in_flight.insert(entry->first);
      ++in_flight_;
      out.push_back({id, GlobalPosition(entry->first), entry->second.delivery, entry->second.attempts + 1});
    }
  }
  return out;
}

void GroupState::land(Entries::iterator entry) {
  if (entry->second.worker == 0) return;
  workers_.at(entry->second.worker).in_flight.erase(entry->first);
  --in_flight_;
  lanes_[entry->second.lane].in_flight = 0;
  entry->second.worker = 0;
  clear_timer(entry);
}

void GroupState::erase(Entries::iterator entry) {
  land(entry);
  clear_timer(entry);
  const auto lane = entry->second.lane;
  settled_to_ = std::max(settled_to_, GlobalPosition(entry->first));
  lanes_[lane].positions.erase(entry->first);
  auto& known = lanes_[lane];
  if (known.ready == entry->first) {
    ready_[known.ready_for].erase(known.ready);
    known.ready = 0;
  }
  entries_.erase(entry);
  ++revision_;
  refresh(lane);
}

Result<void> GroupState::answer_late(GlobalPosition position, std::uint64_t delivery) const {
  const auto where = "position " + std::to_string(position.value);
  if (parked_.contains(position.value)) return refuse(ErrorCode::fenced, where + " is parked: replay or discard it");
  const auto entry = entries_.find(position.value);
  if (entry == entries_.end()) {
    if (position <= read_to_ && position > start_) return {};  // settled: by this delivery, or one like it
    return refuse(ErrorCode::invalid_argument, where + " was never given out");
  }
  if (entry->second.delivery != delivery || delivery == 0) {
    return refuse(ErrorCode::fenced,
                  where + " is no longer yours: its lease ran out or its worker went, and it is given out again");
  }
  return refuse(ErrorCode::fenced,
                where + " is no longer yours: its lease ran out, and it waits to be given out again");
}

Result<void> GroupState::begin(GlobalPosition position, std::uint64_t delivery, GroupTime now) {
  see(now);
  if (!is_out(position, delivery)) {
    EVERSHARD_TRY(answer_late(position, delivery));
    return refuse(ErrorCode::fenced, "position " + std::to_string(position.value) + " is settled already");
  }
  const auto entry = entries_.find(position.value);
  entry->second.begun = true;
  workers_.at(entry->second.worker).began = true;
  set_timer(entry, now_ + settings_.lease.count());
  return {};
}

Result<void> GroupState::acknowledge(GlobalPosition position, std::uint64_t delivery, GroupTime now) {
  see(now);
  const auto entry = entries_.find(position.value);
  // Late, but nobody else has it: it was worked on, and that is what counts.
  if (entry == entries_.end() || entry->second.delivery != delivery || delivery == 0)
    return answer_late(position, delivery);
  if (entry->second.worker != 0) ++workers_.at(entry->second.worker).acknowledged;
  ++counters_.acknowledged;
  erase(entry);
  return {};
}

Result<void> GroupState::reject(GlobalPosition position, std::uint64_t delivery, std::string_view reason,
                                std::optional<std::int64_t> after_ms, GroupTime now, std::int64_t wall_ms) {
  see(now);
  const auto entry = entries_.find(position.value);
  if (entry == entries_.end() || entry->second.delivery != delivery || entry->second.worker == 0)
    return answer_late(position, delivery);
  ++counters_.rejected;
  fail(entry, reason, after_ms ? after_ms : std::optional<std::int64_t>(delay_before(entry->second.attempts + 2)),
       wall_ms);
  return {};
}

Result<void> GroupState::park(GlobalPosition position, std::uint64_t delivery, std::string_view reason, GroupTime now,
                              std::int64_t wall_ms) {
  see(now);
  const auto entry = entries_.find(position.value);
  if (entry == entries_.end() && parked_.contains(position.value)) return {};
  if (entry == entries_.end() || entry->second.delivery != delivery || entry->second.worker == 0)
    return answer_late(position, delivery);
  if (parked_full()) {
    return refuse(ErrorCode::overloaded,
                  "no more events can be parked: " + std::to_string(parked_.size()) + " are; replay or discard some");
  }
  ++entry->second.attempts;
  try_park(entry, reason, wall_ms);
  return {};
}

void GroupState::take_back(GlobalPosition position, std::uint64_t delivery, std::int64_t wait_ms, GroupTime now) {
  see(now);
  const auto entry = entries_.find(position.value);
  if (entry == entries_.end() || entry->second.delivery != delivery || entry->second.worker == 0) return;
  land(entry);
  if (wait_ms > 0) {
    entry->second.waits = true;
    set_timer(entry, now_ + wait_ms);
  }
  refresh(entry->second.lane);
}

void GroupState::hand_over(GlobalPosition position, std::uint64_t delivery, GroupTime now) {
  see(now);
  if (is_out(position, delivery)) set_timer(entries_.find(position.value), now_ + settings_.lease.count());
}

std::optional<std::uint64_t> GroupState::lane_of(GlobalPosition position) const {
  if (settings_.order == GroupOrder::global) return std::nullopt;
  if (const auto entry = entries_.find(position.value); entry != entries_.end()) return entry->second.lane;
  if (const auto parked = parked_.find(position.value); parked != parked_.end()) return parked->second.lane;
  return std::nullopt;
}

bool GroupState::is_out(GlobalPosition position, std::uint64_t delivery) const {
  const auto entry = entries_.find(position.value);
  return entry != entries_.end() && entry->second.worker != 0 && entry->second.delivery == delivery;
}

void GroupState::drop(GlobalPosition position, GroupTime now) {
  see(now);
  if (const auto entry = entries_.find(position.value); entry != entries_.end()) erase(entry);
}

void GroupState::fail(Entries::iterator entry, std::string_view reason, std::optional<std::int64_t> after_ms,
                      std::int64_t wall_ms) {
  land(entry);
  ++entry->second.attempts;
  ++revision_;
  settled_to_ = std::max(settled_to_, GlobalPosition(entry->first));
  if (entry->second.attempts >= settings_.attempts_max) {
    if (try_park(entry, reason, wall_ms)) return;
    after_ms = delay_before(entry->second.attempts + 1);  // no room: it goes on as before, with the longest waits
  }
  if (after_ms && *after_ms > 0) {
    entry->second.waits = true;
    set_timer(entry, now_ + *after_ms);
  }
  refresh(entry->second.lane);
}

GroupTime GroupState::delay_before(std::uint32_t attempt) {
  const auto most = static_cast<double>(settings_.retry_most.count());
  auto wait = static_cast<double>(settings_.retry_first.count());
  for (std::uint32_t further = 2; further < attempt && wait < most; ++further) wait *= settings_.retry_factor;
  wait = std::min(wait, most);
  const auto jitter = static_cast<double>(settings_.retry_jitter_percent) / 100;
  const auto part = static_cast<double>(random_() >> 11) / static_cast<double>(1ull << 53);  // [0, 1)
  return static_cast<GroupTime>(wait * (1 - jitter + 2 * jitter * part));
}

std::vector<GroupWorkerId> GroupState::tick(GroupTime now, std::int64_t wall_ms) {
  see(now);
  std::vector<GroupWorkerId> lost;
  for (const auto& [id, worker] : workers_) {
    if (worker.heard + settings_.lease.count() <= now_) lost.push_back(id);
  }
  for (const auto id : lost) lose(id, now_, wall_ms);
  while (!timers_.empty() && timers_.begin()->first <= now_) {
    const auto entry = entries_.find(timers_.begin()->second);
    if (entry->second.worker != 0) {
      expire(entry, counts(entry->second),
             "not settled: the lease of " + std::to_string(settings_.lease.count()) + " ms ran out", wall_ms);
    } else {
      clear_timer(entry);
      entry->second.waits = false;
      refresh(entry->second.lane);
    }
  }
  return lost;
}

std::optional<GroupTime> GroupState::next_due() const {
  std::optional<GroupTime> due;
  if (!timers_.empty()) due = timers_.begin()->first;
  for (const auto& [id, worker] : workers_) {
    const auto ends = worker.heard + settings_.lease.count();
    if (!due || ends < *due) due = ends;
  }
  return due;
}

std::size_t GroupState::waiting() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(entries_, [](const auto& entry) { return entry.second.waits; }));
}

void GroupState::cut_back(GlobalPosition end, GroupTime now) {
  see(now);
  end = std::max(end, start_);
  ++revision_;
  while (!entries_.empty() && entries_.rbegin()->first > end.value) erase(std::prev(entries_.end()));
  while (!parked_.empty() && parked_.rbegin()->first > end.value) remove_parked(std::prev(parked_.end()));
  place_.cut_back(end);
  read_to_ = std::min(read_to_, end);
  settled_to_ = std::min(settled_to_, read_to_);
  refresh_all();
}

}  // namespace evershard::actors
