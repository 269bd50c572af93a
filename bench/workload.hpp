// Workload: the events every benchmark uses, the same sequence for the same seed.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evershard/protocol/append.hpp"

namespace evershard::bench {

/// xorshift: fast enough not to be what is measured.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  std::uint64_t operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545F4914F6CDD1Dull;
  }
  std::uint64_t below(std::uint64_t n) { return ((*this)() >> 11) % n; }

 private:
  std::uint64_t state_;
};

/// 100,000 aggregates, 20 types, tags `student:` (100,000, rare), `course:` (1,000, medium); payloads like JSON.
class Workload {
 public:
  struct Shape {
    std::size_t payload_bytes = 256;
    std::uint64_t aggregates = 100'000;
    std::uint64_t students = 100'000;
    std::uint64_t courses = 1'000;
    std::uint64_t types = 20;
    /// One event in ten carries a frequent tag `region:` of ten.
    bool frequent_tag = false;
  };
  explicit Workload(std::uint64_t seed) : Workload(seed, Shape()) {}
  Workload(std::uint64_t seed, Shape shape);

  Event event();
  Append append(std::size_t events);
  Random& random() { return random_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }

 private:
  Random random_;
  Shape shape_;
  std::string pool_;
};

}  // namespace evershard::bench
