// SmallDisk: a disk that outlives the processes on it, and can be filled up.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/process/process.hpp"

namespace evershard::testing {

/// A file system in memory, seen by who is started `within` it. It ends with the object.
class SmallDisk {
 public:
  SmallDisk(std::filesystem::path at, std::uint64_t mib);

  /// No: this system lets us make none.
  [[nodiscard]] bool is_there() const { return there_; }
  /// Words before a process's own.
  [[nodiscard]] std::vector<std::string> within() const;
  /// All but so much.
  void fill_up(std::uint64_t bytes_left) const;
  void make_room() const;

 private:
  [[nodiscard]] std::filesystem::path inside() const;

  const std::filesystem::path at_;
  std::unique_ptr<Process> holder_;
  bool there_ = false;
};

}  // namespace evershard::testing
