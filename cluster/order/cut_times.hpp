// CutTimes: when cuts were made and where they ended, for people: how far somebody is behind.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
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
    // What is so old is known to so many of them.
    std::vector<Made> kept{made_.back()};
    for (auto at = made_.rbegin() + 1; at != made_.rend(); ++at)
      if (kept.back().cut - at->cut >= std::max<std::uint64_t>(1, (cut - at->cut) / resolution)) kept.push_back(*at);
    std::ranges::reverse(kept);
    made_ = std::move(kept);
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
  static constexpr std::size_t most = 8'192;
  static constexpr std::uint64_t resolution = 256;
  struct Made {
    CutNumber cut;
    GlobalPosition watermark;
    Time at;
  };
  std::vector<Made> made_;
};

}  // namespace evershard::cluster
