// LeftOut: what a repaired or restored store does without.

#pragma once

#include <string>
#include <vector>

namespace evershard::storage {

struct LeftOut {
  bool indexes = false;  ///< all of them: they are made anew
  std::vector<std::string>
      snapshots{};  ///< keys of the family state: states are made from events, or of a retained copy
  std::vector<std::string> removals{};  ///< the same: what they speak of is to be removed once more
  [[nodiscard]] bool any() const { return indexes || !snapshots.empty() || !removals.empty(); }
};

}  // namespace evershard::storage
