#include "evershard/protocol/kept_place.hpp"

#include <algorithm>

namespace evershard {

void KeptPlace::add(const PlaceMark& mark) {
  if (mark.position.value == 0 || (!marks_.empty() && mark.position <= marks_.back().position)) return;
  marks_.push_back(mark);
  if (marks_.size() <= marks_max) return;
  // The one goes whose neighbours lie closest to each other, measured by how far behind the newest they are.
  const auto newest = marks_.back().position.value;
  std::size_t least = 1;
  double least_gap = -1;
  for (std::size_t i = 1; i + 1 < marks_.size(); ++i) {
    const auto gap = static_cast<double>(marks_[i + 1].position.value - marks_[i - 1].position.value) /
                     static_cast<double>(newest - marks_[i].position.value + 1);
    if (least_gap >= 0 && gap >= least_gap) continue;
    least = i;
    least_gap = gap;
  }
  marks_.erase(marks_.begin() + static_cast<std::ptrdiff_t>(least));
}

void KeptPlace::cut_back(GlobalPosition end) {
  while (!marks_.empty() && marks_.back().position > end) marks_.pop_back();
}

KeptPlace KeptPlace::up_to(GlobalPosition end) const {
  auto part = *this;
  part.cut_back(end);
  return part;
}

Result<KeptPlace::Settled> KeptPlace::settle(GlobalPosition reached, std::string_view fork, GlobalPosition head,
                                             const EventIdStanding& standing) const {
  std::optional<PlaceMark> newest;
  for (auto mark = marks_.rbegin(); mark != marks_.rend() && !newest; ++mark) {
    if (mark->position > head) continue;
    const auto stands = standing(mark->position);
    if (!stands) return refuse(stands.error());
    if (!*stands || **stands == mark->event) newest = *mark;
  }
  const bool of_this_fork = fork_.empty() || fork_ == fork;
  const bool newest_stands = marks_.empty() || newest == marks_.back();
  if (of_this_fork && newest_stands && reached <= head) return Settled{};

  Settled settled{
      .stands = false, .last = newest, .position = newest ? newest->position : GlobalPosition{0}, .why = {}};
  // Nothing says where the histories part. The present head is the only bound that is known.
  if (fork_.empty() && marks_.empty()) settled.position = head;
  const auto was = "position " + std::to_string(reached.value);
  if (!of_this_fork)
    settled.why = was + " is of fork " + fork_ + " of the store, which is fork " + std::string(fork) + " now";
  else if (reached > head)
    settled.why =
        was + " lies beyond the head of the store, " + std::to_string(head.value) + ", fork " + std::string(fork);
  else
    settled.why = "another event stands at position " + std::to_string(marks_.back().position.value) +
                  " of the store than the one that was read there";
  settled.why += ": the store was restored, or is a copy of another; the place falls back to position " +
                 std::to_string(settled.position.value);
  return settled;
}

}  // namespace evershard
