// DiskSpace: whether the disk has more left than the reserve, asked now and then and answered at once.

#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

namespace evershard::storage {

/// One thread polls, any thread looks.
class DiskSpace {
 public:
  DiskSpace(std::filesystem::path folder, std::uint64_t reserve_bytes)
      : folder_(std::move(folder)), reserve_(reserve_bytes) {
    poll();
  }

  /// Cost: one statvfs, about 1 us. What cannot be asked stays as it was.
  void poll();
  [[nodiscard]] std::uint64_t free_bytes() const { return free_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t reserve_bytes() const { return reserve_; }
  [[nodiscard]] bool below_reserve() const { return free_bytes() < reserve_; }

 private:
  const std::filesystem::path folder_;
  const std::uint64_t reserve_;
  std::atomic<std::uint64_t> free_{~std::uint64_t{0}};
};

}  // namespace evershard::storage
