// The projection store in memory: for tests, and for stores in memory.

#pragma once

#include <memory>

#include "evershard/services/rows/projection_store.hpp"

namespace evershard::storage {

[[nodiscard]] std::unique_ptr<ProjectionStore> memory_projection_store();

}  // namespace evershard::storage
