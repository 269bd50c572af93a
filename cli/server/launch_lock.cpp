#include "evershard/cli/server/launch_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace evershard::cli {

Result<LaunchLock> LaunchLock::take(const std::filesystem::path& folder) {
  const auto path = folder / "launch.lock";
  storage::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open())
    return refuse(ErrorCode::io, "cannot open " + path.string() + ": " + std::generic_category().message(errno));
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return refuse(ErrorCode::unavailable, "the cluster in " + folder.string() + " runs: another process launched it");
    return refuse(ErrorCode::io, "cannot lock " + path.string() + ": " + std::generic_category().message(errno));
  }
  return LaunchLock(std::move(file));
}

}  // namespace evershard::cli
