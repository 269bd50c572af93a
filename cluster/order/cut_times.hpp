// CutTimes: when cuts were made and where they ended, for people: how far somebody is behind.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "evershard/protocol/numbers.hpp"

namespace evershard::cluster {

/// The newest cuts in full; the older they are, the fewer of them are known.
class CutTimes {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void made(Time now, CutNumber cut, GlobalPosition watermark) {
    made_.push_back({cut, watermark, now});
    if (made_.size() < most) return;
    // Every second one of the older half goes.
    std::size_t kept = 0;
    for (std::size_t i = 0; i != made_.size(); ++i)
      if (i >= most / 2 || i % 2 == 0) made_[kept++] = made_[i];
    made_.resize(kept);
  }

  struct Behind {
    std::uint64_t events = 0;           ///< that have positions and are not applied
    std::chrono::milliseconds time{0};  ///< since the first of their cuts was made
  };
  /// Of who has applied this cut; at least so much, where that was before what is known here.
  [[nodiscard]] Behind behind(Time now, CutNumber applied) const {
    const auto next = std::ranges::upper_bound(made_, applied, {}, &Made::cut);
    if (next == made_.end()) return {};
    const auto known = next == made_.begin() ? next : next - 1;
    return {made_.back().watermark - known->watermark,
            std::chrono::duration_cast<std::chrono::milliseconds>(now - next->at)};
  }

 private:
  static constexpr std::size_t most = 4'096;
  struct Made {
    CutNumber cut;
    GlobalPosition watermark;
    Time at;
  };
  std::vector<Made> made_;
};

}  // namespace evershard::cluster
