// Which RocksDB is linked.

#pragma once

#include <string>

namespace evershard::storage {

/// 7.8.3
[[nodiscard]] std::string rocks_version();

/// Whether it was built with its assertions: slower, and a full disk may abort the process in it.
[[nodiscard]] bool rocks_has_assertions();

}  // namespace evershard::storage
