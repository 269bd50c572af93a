#include "evershard/storage/repair/truth_only.hpp"

#include <fstream>
#include <string>
#include <system_error>

#include "evershard/storage/repair/store_copy.hpp"

namespace evershard::storage {

Result<void> mark_truth_only(const std::filesystem::path& folder, const Identity& identity, GlobalPosition end) {
  auto path = folder / truth_only_file;
  std::ofstream file(path, std::ios::trunc);
  file << "a backup of store " << identity.store.text() << " up to position " << end.value
       << ", without indexes: `evershard restore` makes a store of it\n";
  if (!file.flush()) return refuse(ErrorCode::io, "cannot write " + path.string());
  file.close();
  EVERSHARD_TRY(sync_path(path));
  return sync_path(folder);
}

bool is_truth_only(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / truth_only_file, ignored);
}

Result<void> refuse_truth_only(const std::filesystem::path& folder) {
  if (!is_truth_only(folder)) return {};
  return refuse(
      ErrorCode::invalid_argument,
      folder.string() +
          " is a backup of the truth only, without indexes: it is not opened, `evershard restore` makes a store of it");
}

}  // namespace evershard::storage
