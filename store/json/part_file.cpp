#include "evershard/store/json/part_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/files/synced.hpp"

namespace evershard {
namespace {

Refused cannot_write(const std::string& path, int error) {
  return refuse(ErrorCode::io, in_quotes(path, 300) + " cannot be written: " + std::strerror(error));
}

}  // namespace

Result<PartFile> PartFile::create(std::string path) {
  // What keep() could not put there is refused before anything is written for it.
  std::error_code none;
  if (path.empty() || std::filesystem::is_directory(path, none))
    return cannot_write(path, path.empty() ? ENOENT : EISDIR);
  const std::string part = path + ".part";
  const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return cannot_write(part, errno);
  return PartFile(std::move(path), descriptor);
}

PartFile::~PartFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(part().c_str());
}

Result<void> PartFile::keep() {
  if (::fsync(descriptor_) != 0) return cannot_write(part(), errno);
  if (std::rename(part().c_str(), path_.c_str()) != 0) return cannot_write(path_, errno);
  ::close(std::exchange(descriptor_, -1));
  return storage::sync_folder_of(path_);
}

}  // namespace evershard
