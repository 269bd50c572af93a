// The version of the RocksDB that is linked.

#pragma once

#include <string>

namespace evershard::storage {

/// 7.8.3
[[nodiscard]] std::string rocks_version();

}  // namespace evershard::storage
