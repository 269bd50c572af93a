#include "evershard/doors/remote/door_choice.hpp"

#include <algorithm>

namespace evershard::remote {

template <class Fits>
std::optional<std::size_t> DoorChoice::next(std::size_t from, Fits fits) const {
  for (std::size_t step = 1; step <= doors_.size(); ++step) {
    const auto door = (from + step) % doors_.size();
    if (fits(doors_[door])) return door;
  }
  return std::nullopt;
}

std::size_t DoorChoice::add() {
  doors_.emplace_back();
  return doors_.size() - 1;
}

void DoorChoice::is(std::size_t door, Whose whose) {
  if (doors_.at(door).whose != whose)
    doors_[door].failures = 0;  // it answered; a word alone mends no door that was tried
  doors_[door].whose = whose;
  if (whose == Whose::ours && (doors_[at_].whose != Whose::ours || doors_[at_].failures > 0)) at_ = door;
  if (doors_[at_].whose == Whose::foreign)
    at_ = next(at_, [](const Door& one) { return one.whose == Whose::ours; }).value_or(at_);
}

bool DoorChoice::all_foreign() const {
  return std::ranges::all_of(doors_, [](const Door& door) { return door.whose == Whose::foreign; });
}

std::optional<std::size_t> DoorChoice::current() const {
  if (!doors_.empty() && doors_[at_].whose == Whose::ours) return at_;
  return std::nullopt;
}

std::optional<std::size_t> DoorChoice::to_meet(Clock::time_point now) const {
  if (doors_.empty() || (doors_[at_].whose == Whose::ours && doors_[at_].failures == 0)) return std::nullopt;
  // The search begins with the current door itself, so that the first address comes first.
  return next(at_ + doors_.size() - 1,
              [now](const Door& door) { return door.whose == Whose::unknown && door.rests_until <= now; });
}

std::optional<DoorChoice::Clock::time_point> DoorChoice::meets_next() const {
  std::optional<Clock::time_point> first;
  if (doors_.empty() || (doors_[at_].whose == Whose::ours && doors_[at_].failures == 0)) return first;
  for (const auto& door : doors_) {
    if (door.whose == Whose::unknown) first = std::min(first.value_or(door.rests_until), door.rests_until);
  }
  return first;
}

void DoorChoice::failed(std::size_t door, Clock::time_point now, std::chrono::milliseconds rest) {
  auto& failing = doors_.at(door);
  ++failing.failures;
  failing.rests_until = std::max(failing.rests_until, now + rest);
  if (door != at_ || failing.whose != Whose::ours) return;
  if (auto other = next(at_, [now](const Door& one) { return one.whose == Whose::ours && one.rests_until <= now; }))
    at_ = *other;
}

}  // namespace evershard::remote
