#include "evershard/storage/rocks/database_lock.hpp"

#include <sys/statvfs.h>

#include <system_error>

#include "evershard/storage/store_owner.hpp"

namespace evershard::storage {
namespace {

bool is_on_read_only_mount(const std::filesystem::path& path) {
  struct statvfs mounted {};
  return ::statvfs(path.c_str(), &mounted) == 0 && (mounted.f_flag & ST_RDONLY) != 0;
}

}  // namespace

Result<std::unique_ptr<DatabaseLock>> DatabaseLock::take(const std::filesystem::path& data_dir) {
  std::error_code error;
  if (!std::filesystem::exists(data_dir / "db", error))
    return refuse(ErrorCode::not_found, "there is no store in " + data_dir.string());
  if (is_on_read_only_mount(data_dir / "db")) return std::unique_ptr<DatabaseLock>(new DatabaseLock(nullptr));
  rocksdb::FileLock* lock = nullptr;
  auto status = rocksdb::Env::Default()->LockFile((data_dir / "db" / "LOCK").string(), &lock);
  if (status.ok()) return std::unique_ptr<DatabaseLock>(new DatabaseLock(lock));
  auto text = status.ToString();
  if (text.find("lock hold by current process") != std::string::npos ||
      text.find("While lock file") != std::string::npos)
    return refuse(ErrorCode::unavailable,
                  data_dir.string() + " is open already: " + StoreOwner::named_in(data_dir / "OWNER"));
  return refuse(ErrorCode::io, "cannot lock " + data_dir.string() + ": " + text);
}

DatabaseLock::~DatabaseLock() {
  if (lock_ != nullptr) rocksdb::Env::Default()->UnlockFile(lock_);
}

}  // namespace evershard::storage
