#include "evershard/storage/files/synced.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/files/descriptor.hpp"

namespace evershard::storage {
namespace {

Refused failed(const char* what, const std::filesystem::path& path, int why) {
  return refuse(ErrorCode::io, std::string(what) + " " + in_quotes(path.string(), 300) + ": " + std::strerror(why));
}

}  // namespace

Result<void> sync_path(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() || ::fsync(file.number()) != 0) return failed("cannot sync", path, errno);
  return {};
}

Result<void> sync_folder_of(const std::filesystem::path& path) {
  const auto folder = std::filesystem::absolute(path).parent_path();
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) return {};
  if (::fsync(opened.number()) != 0 && errno != EINVAL) return failed("cannot sync", folder, errno);
  return {};
}

Result<void> write_synced(const std::filesystem::path& path, int flags, mode_t mode, std::string_view bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, mode));
  if (!file.is_open()) return failed("cannot write", path, errno);
  for (std::string_view left = bytes; !left.empty();) {
    const auto written = ::write(file.number(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("cannot write", path, errno);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file.number()) != 0) return failed("cannot sync", path, errno);
  return {};
}

}  // namespace evershard::storage
