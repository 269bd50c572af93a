#include "evershard/storage/rocks/disk_space.hpp"

#include <sys/statvfs.h>

namespace evershard::storage {

void DiskSpace::poll() {
  struct statvfs disk {};
  if (::statvfs(folder_.c_str(), &disk) == 0)
    free_.store(static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize, std::memory_order_relaxed);
}

}  // namespace evershard::storage
