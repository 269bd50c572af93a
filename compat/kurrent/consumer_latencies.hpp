// ConsumerLatencies: how long a consumer takes to settle, as the measurements that clients are shown. Decisions only.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace evershard::kurrent {

/// Of the latest events. Owner: whoever feeds it locks it.
class ConsumerLatencies {
 public:
  static constexpr std::size_t kept_max = 1'000;

  struct Measurement {
    std::string name{};  ///< as clients know it
    std::int64_t ms = 0;
    friend bool operator==(const Measurement&, const Measurement&) = default;
  };

  /// From when it was given out until it was settled.
  void add(std::chrono::milliseconds latency);
  /// Returns: none where nothing was settled. A quantile is the least latency that so many are not above. Cost: sorts.
  [[nodiscard]] std::vector<Measurement> measurements() const;

 private:
  std::vector<std::int64_t> ms_{};  ///< a ring
  std::size_t next_ = 0;
};

}  // namespace evershard::kurrent
