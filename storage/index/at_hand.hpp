// AtHand: a read by a thread that has others to serve: what memory has, and soon.

#pragma once

#include <chrono>

#include "evershard/storage/index/memory_only.hpp"
#include "evershard/storage/index/read_work.hpp"

namespace evershard::storage {

/// While it lives, this thread's reads take what memory has, and end with an error where they would wait for the disk
/// or take longer than `processor_max`.
class AtHand {
 public:
  static constexpr std::chrono::milliseconds processor_max{1};

 private:
  MemoryOnly memory_only_;
  ReadWork work_{
      {.processor_max = processor_max, .short_max = processor_max},
      [](ReadWork&) -> Result<ReadWork::Place> { return refuse(ErrorCode::overloaded, "a read that takes longer"); }};
  ReadWork::Scope at_work_{work_};
};

}  // namespace evershard::storage
