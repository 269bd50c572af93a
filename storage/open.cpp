#include "evershard/storage/open.hpp"

namespace evershard::storage {

Result<std::unique_ptr<Store>> open_store(StoreOptions options) {
  return options.data_dir.empty() ? open_memory_store(std::move(options)) : open_rocks_store(std::move(options));
}

Result<std::unique_ptr<NodeStore>> open_node_store(StoreOptions options) {
  return options.data_dir.empty() ? open_memory_node_store(std::move(options)) : open_rocks_node_store(std::move(options));
}

}  // namespace evershard::storage
