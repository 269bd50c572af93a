// Latencies: how long something took, many times, cheap to count: geometric buckets.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace evershard {

/// Counts by bucket, since the start; those of two moments can be subtracted.
///
/// Shape: four buckets an octave from 16 us to 16 s; the first takes what was quicker, the last what was slower.
/// Units: microseconds.
struct Latencies {
  static constexpr std::uint64_t micros_min = 16;
  static constexpr std::size_t octaves = 20;
  static constexpr std::size_t buckets = octaves * 4 + 2;

  std::array<std::uint64_t, buckets> counts{};
  std::uint64_t micros_sum = 0;

  static constexpr std::size_t bucket_of(std::uint64_t micros) {
    if (micros < micros_min) return 0;
    const auto octave = static_cast<std::size_t>(std::bit_width(micros / micros_min) - 1);
    if (octave >= octaves) return buckets - 1;
    const std::uint64_t base = micros_min << octave;
    return 1 + octave * 4 + static_cast<std::size_t>((micros - base) * 4 / base);
  }
  /// The bound that the latencies in a bucket are below; of the last bucket: the latency that the bucket begins with.
  static constexpr std::uint64_t end_of(std::size_t bucket) {
    if (bucket == 0) return micros_min;
    if (bucket >= buckets - 1) return micros_min << octaves;
    const std::uint64_t base = micros_min << ((bucket - 1) / 4);
    return base + base * ((bucket - 1) % 4 + 1) / 4;
  }

  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (const auto n : counts) sum += n;
    return sum;
  }
  /// At most a quarter too high. Absent: nothing was counted.
  [[nodiscard]] std::optional<std::uint64_t> percentile(unsigned percent) const {
    const std::uint64_t all = count();
    if (all == 0) return std::nullopt;
    const std::uint64_t wanted = (all * percent + 99) / 100;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
      seen += counts[i];
      if (seen >= wanted && seen != 0) return end_of(i);
    }
    return end_of(buckets - 1);
  }
  /// What came since `before`, an earlier reading of the same.
  [[nodiscard]] Latencies since(const Latencies& before) const {
    Latencies more;
    for (std::size_t i = 0; i < buckets; ++i) more.counts[i] = counts[i] - before.counts[i];
    more.micros_sum = micros_sum - before.micros_sum;
    return more;
  }
  friend bool operator==(const Latencies&, const Latencies&) = default;
};

/// From any thread. Cost: two uncontended additions.
class LatencyCounter {
 public:
  void add(std::chrono::nanoseconds took) {
    const auto micros = static_cast<std::uint64_t>(std::max<std::int64_t>(0, took.count() / 1'000));
    counts_[Latencies::bucket_of(micros)].fetch_add(1, std::memory_order_relaxed);
    micros_sum_.fetch_add(micros, std::memory_order_relaxed);
  }
  [[nodiscard]] Latencies read() const {
    Latencies now;
    for (std::size_t i = 0; i < Latencies::buckets; ++i) now.counts[i] = counts_[i].load(std::memory_order_relaxed);
    now.micros_sum = micros_sum_.load(std::memory_order_relaxed);
    return now;
  }

 private:
  std::array<std::atomic<std::uint64_t>, Latencies::buckets> counts_{};
  std::atomic<std::uint64_t> micros_sum_{0};
};

}  // namespace evershard
