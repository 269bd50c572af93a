// SealPace: how long sealing rests between two steps. Plain arithmetic.

#pragma once

#include <chrono>
#include <cstddef>

namespace evershard::storage {

/// Fast enough to be done before the active tail is half full at the present append rate, no faster: what remains of
/// disk and cores belongs to appends. Learns from each tail what sealing an event costs.
class SealPace {
 public:
  using Micros = std::chrono::microseconds;

  /// `bytes_per_second`: a fixed pace instead; 0: none.
  explicit SealPace(std::size_t tail_events, std::size_t bytes_per_second)
      : tail_events_(tail_events), bytes_per_second_(bytes_per_second) {}

  /// The rest after a step that worked for `busy` and wrote so many bytes.
  ///
  /// `load`: of the tails in memory (Tails::load); from `load_urgent` on there is no rest.
  [[nodiscard]] Micros rest(Micros busy, std::size_t bytes, double appended_per_second, double load) const;

  /// So many events were sealed in so much work.
  void learn(std::size_t events, Micros busy);
  [[nodiscard]] double cost_us_event() const { return cost_us_event_; }

  static constexpr double load_urgent = 1.4;
  static constexpr double share_least = 0.2;   ///< of a core's time, even where nobody appends
  static constexpr double fill_target = 0.35;  ///< of the active tail: done by then

 private:
  std::size_t tail_events_;
  std::size_t bytes_per_second_;
  double cost_us_event_ = 3;
};

}  // namespace evershard::storage
