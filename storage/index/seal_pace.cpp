#include "evershard/storage/index/seal_pace.hpp"

#include <algorithm>

namespace evershard::storage {

SealPace::Micros SealPace::rest(Micros busy, std::size_t bytes, double appended_per_second, double load) const {
  if (load >= load_urgent) return Micros{0};
  if (bytes_per_second_ != 0) {
    auto due =
        Micros(static_cast<Micros::rep>(1e6 * static_cast<double>(bytes) / static_cast<double>(bytes_per_second_)));
    return std::max(due - busy, Micros{0});
  }
  // Sealing one event costs so much, and in the time that is given so many more are appended: that is the share of a
  // core it needs.
  auto share = std::clamp(cost_us_event_ * 1e-6 * appended_per_second / fill_target, share_least, 1.0);
  return Micros(static_cast<Micros::rep>(static_cast<double>(busy.count()) * (1 / share - 1)));
}

void SealPace::learn(std::size_t events, Micros busy) {
  if (events < tail_events_ / 8) return;  // too few to tell
  cost_us_event_ = 0.5 * cost_us_event_ + 0.5 * static_cast<double>(busy.count()) / static_cast<double>(events);
}

}  // namespace evershard::storage
