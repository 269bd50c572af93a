// Findings: what is wrong, as sentences: all are counted, the first are kept.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace evershard::storage {

class Findings {
 public:
  explicit Findings(std::size_t kept_max) : kept_max_(kept_max) {}

  /// `errors`: how many there are of what one sentence says.
  void add(std::string sentence, std::uint64_t errors = 1) {
    errors_ += errors;
    if (kept_.size() < kept_max_) kept_.push_back(std::move(sentence));
  }
  [[nodiscard]] std::uint64_t errors() const { return errors_; }
  [[nodiscard]] const std::vector<std::string>& kept() const { return kept_; }
  std::vector<std::string> take() { return std::move(kept_); }

 private:
  std::size_t kept_max_;
  std::uint64_t errors_ = 0;
  std::vector<std::string> kept_;
};

}  // namespace evershard::storage
