// LearnRate: how long a node that is given shards still needs.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

namespace evershard::cluster {

/// As fast as over about the last half minute; times are given, and do not go back.
class LearnRate {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void seen(Time now, std::uint64_t learned) {
    if (!samples_.empty() && learned < samples_.back().learned) samples_.clear();  // it begins anew
    if (!samples_.empty() && now - samples_.back().at < step) return;
    samples_.push_back({now, learned});
    while (samples_.size() > 2 && now - samples_[1].at >= window) samples_.pop_front();
  }
  /// Until it has `total`; absent: it has learned nothing lately, so that nobody knows.
  [[nodiscard]] std::optional<std::chrono::milliseconds> left(std::uint64_t total) const {
    if (samples_.size() < 2) return std::nullopt;
    const auto& first = samples_.front();
    const auto& last = samples_.back();
    if (last.learned >= total) return std::chrono::milliseconds(0);
    if (last.learned == first.learned) return std::nullopt;
    const auto took = std::chrono::duration<double, std::milli>(last.at - first.at).count();
    const auto rate = static_cast<double>(last.learned - first.learned) / took;
    return std::chrono::milliseconds(static_cast<std::int64_t>(static_cast<double>(total - last.learned) / rate));
  }

 private:
  static constexpr std::chrono::milliseconds step{500};
  static constexpr std::chrono::seconds window{30};
  struct Sample {
    Time at;
    std::uint64_t learned = 0;
  };
  std::deque<Sample> samples_;
};

}  // namespace evershard::cluster
