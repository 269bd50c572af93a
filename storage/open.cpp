#include "evershard/storage/open.hpp"

#include <system_error>

#include "evershard/storage/rocks/database_lock.hpp"

namespace evershard::storage {

Result<std::unique_ptr<Store>> open_store(StoreOptions options) {
  return options.data_dir.empty() ? open_memory_store(std::move(options)) : open_rocks_store(std::move(options));
}

Result<std::unique_ptr<NodeStore>> open_node_store(StoreOptions options) {
  return options.data_dir.empty() ? open_memory_node_store(std::move(options))
                                  : open_rocks_node_store(std::move(options));
}

Result<void> check_not_open(const std::filesystem::path& data_dir) {
  std::error_code unknown;
  if (data_dir.empty() || !std::filesystem::exists(data_dir / "db" / "CURRENT", unknown)) return {};
  const auto lock = DatabaseLock::take(data_dir);
  if (!lock && lock.error().code == ErrorCode::unavailable) return refuse(lock.error());
  return {};  // whatever else is wrong its opening says
}

Result<std::shared_ptr<const void>> keep_others_out(const std::filesystem::path& data_dir) {
  auto lock = DatabaseLock::take(data_dir);
  if (!lock) return refuse(std::move(lock).error());
  return std::shared_ptr<const void>(std::move(*lock));
}

}  // namespace evershard::storage
