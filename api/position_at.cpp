#include "evershard/api/position_at.hpp"

#include <algorithm>

#include "evershard/api/event_store.hpp"

namespace evershard {
namespace {

/// A look is at a few events, and most of them decide: a single event may have a time of its caller's, from a clock
/// that is wrong or from long ago.
constexpr std::uint64_t voters = 5;
constexpr std::uint64_t walked_at_once = dated_out_of_order_max + 4 * voters;

/// Absent: none of them has a time.
std::optional<bool> most_are_later(const std::vector<DatedEvent>& events, Timestamp at) {
  std::size_t dated = 0, later = 0;
  for (const auto& event : events) {
    if (!event.at) continue;
    ++dated;
    if (*event.at > at) ++later;
  }
  if (dated == 0) return std::nullopt;
  return later * 2 > dated;
}

/// The last position at which most events are not later, or 0. Where events have no time, the search looks ever nearer
/// to what is later: events that were removed often lie together. A stretch in which no look finds a time is later.
Result<std::uint64_t> search(Timestamp at, std::uint64_t head, const DatedEvents& look) {
  std::uint64_t earlier = 0, later = head + 1;
  while (earlier + 1 < later) {
    const auto middle = earlier + (later - earlier) / 2;
    auto place = middle;
    std::optional<bool> is_later;
    while (true) {
      const auto events = look(GlobalPosition(place - 1), std::min(voters, later - place));
      if (!events) return refuse(events.error());
      is_later = most_are_later(*events, at);
      const auto step = (later - place) / 2;
      if (is_later || step == 0) break;
      place += step;
    }
    if (!is_later)
      later = middle;
    else if (*is_later)
      later = place;
    else
      earlier = place;
  }
  return earlier;
}

/// Events in order, up to the first that is later: the end of the last append in front of that one which has an event
/// that is not.
class Walk {
 public:
  explicit Walk(Timestamp at) : at_(at) {}

  /// Returns: whether it goes on.
  bool step(const DatedEvent& event) {
    const auto begin = event.position.value - event.append_index;
    if (begin_ != begin) {
      found_ = begin_ == 0 ? begin - 1 : found().value;
      begin_ = begin;
      end_ = 0;
    }
    if (!event.at) return true;
    if (*event.at > at_) {
      end_ = 0;
      return false;
    }
    end_ = begin + event.append_events - 1;
    return true;
  }
  [[nodiscard]] GlobalPosition found() const { return GlobalPosition(end_ == 0 ? found_ : end_); }

 private:
  const Timestamp at_;
  std::uint64_t found_ = 0;
  std::uint64_t begin_ = 0;  ///< of the append that is looked at; 0: nothing was
  std::uint64_t end_ = 0;    ///< of that append, where an event of it is not later and none is; else 0
};

}  // namespace

Result<GlobalPosition> position_at(Timestamp at, GlobalPosition head, const DatedEvents& look) {
  const auto near = search(at, head.value, look);
  if (!near) return refuse(near.error());
  GlobalPosition after(*near - std::min(*near, dated_out_of_order_max + 1));
  Walk walk(at);
  for (std::uint64_t left = dated_out_of_order_max + dated_gap_max; left > 0;) {
    const auto events = look(after, std::min(left, walked_at_once));
    if (!events) return refuse(events.error());
    for (const auto& event : *events)
      if (event.position > head || !walk.step(event)) return walk.found();
    if (events->empty()) break;
    after = events->back().position;
    left -= std::min<std::uint64_t>(left, events->size());
  }
  return walk.found();
}

Result<GlobalPosition> EventStore::position_at(Timestamp at) {
  const auto end = head();
  if (!end || at >= Timestamp::now()) return end;
  return evershard::position_at(at, *end, [this](GlobalPosition after, std::uint64_t limit) {
    Result<std::vector<DatedEvent>> found;
    auto stream = read(Query::all(), ReadOptions{.after = after, .limit = limit});
    for (const auto& event : stream) {
      const bool dated = event.state != EventState::removed;
      found->push_back({event.position, dated ? std::optional(event.occurred_at) : std::nullopt, event.append_index,
                        event.append_events});
    }
    if (stream.error()) found = refuse(*stream.error());
    return found;
  });
}

}  // namespace evershard
