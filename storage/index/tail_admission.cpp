#include "evershard/storage/index/tail_admission.hpp"

namespace evershard::storage {

Admission admission_of(double lag) {
  if (lag < lag_slow) return {};
  if (lag >= lag_full) return {Admission::Kind::full, 0, "sealing lags behind"};
  auto above = (lag - lag_slow) / (lag_full - lag_slow);
  auto delay = slow_delay_us_min + (slow_delay_us_max - slow_delay_us_min) * above * above;
  return {Admission::Kind::slow, static_cast<std::uint32_t>(delay), {}};
}

}  // namespace evershard::storage
