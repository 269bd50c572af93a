// ProjectionBatch: what one write changes in the families of projections.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/services/rows/projection_checkpoint.hpp"

namespace evershard::storage {

struct ChangedRow {
  std::string key{};
  std::optional<std::string> value{};  ///< absent: the row goes
};

/// Of one family. Shape: a later change of a key takes the place of an earlier one; in order of key they are written
/// fastest.
struct ProjectionChanges {
  std::vector<ChangedRow> rows{};
  std::optional<ProjectionCheckpoint> checkpoint{};

  void put(std::string key, std::string value) { rows.push_back({std::move(key), std::move(value)}); }
  void erase(std::string key) { rows.push_back({std::move(key), std::nullopt}); }
};

/// All of it is there afterwards, or nothing, whatever the number of families.
struct ProjectionBatch {
  std::map<std::string, ProjectionChanges> families{};
};

}  // namespace evershard::storage
