// CutRate: how many cuts a second were made lately.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

#include "evershard/protocol/numbers.hpp"

namespace evershard::cluster {

/// Over about the last ten seconds; times are given, and do not go back.
class CutRate {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds window{10};

  void seen(Time now, CutNumber last) {
    if (!samples_.empty() && now - samples_.back().at < step) return;
    samples_.push_back({now, last});
    while (samples_.size() > 1 && now - samples_[1].at >= window) samples_.pop_front();
  }
  [[nodiscard]] std::uint64_t per_second(Time now, CutNumber last) const {
    // Nothing was made since the newest sample, however old that is.
    auto from = samples_.begin();
    while (from != samples_.end() && now - from->at > window + step) ++from;
    if (from == samples_.end()) return 0;
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - from->at).count();
    return ms <= 0 ? 0 : (last - from->last) * 1'000 / static_cast<std::uint64_t>(ms);
  }

 private:
  static constexpr std::chrono::milliseconds step{500};
  struct Sample {
    Time at;
    CutNumber last;
  };
  std::deque<Sample> samples_;
};

}  // namespace evershard::cluster
