// ProjectionBatch: what one write changes in the families of projections.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "evershard/storage/projections/projection_checkpoint.hpp"

namespace evershard::storage {

/// Of one family. Shape: a later change of a key takes the place of an earlier one.
struct ProjectionChanges {
  std::map<std::string, std::optional<std::string>, std::less<>> rows{};  ///< absent value: the row goes
  std::optional<ProjectionCheckpoint> checkpoint{};

  void put(std::string_view key, std::string value) { rows.insert_or_assign(std::string(key), std::move(value)); }
  void erase(std::string_view key) { rows.insert_or_assign(std::string(key), std::nullopt); }
};

/// All of it is there afterwards, or nothing, whatever the number of families.
struct ProjectionBatch {
  std::map<std::string, ProjectionChanges> families{};
};

}  // namespace evershard::storage
