#include "evershard/store/json/part_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard {
namespace {

Refused cannot_write(const std::string& path, int error) {
  return refuse(ErrorCode::io, in_quotes(path, 300) + " cannot be written: " + std::strerror(error));
}

}  // namespace

Result<PartFile> PartFile::create(std::string path) {
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
  return sync_folder_of(path_);
}

Result<void> sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A folder that may not be read, or a file system that cannot sync one, is no fault of the file's.
  if (descriptor < 0) return {};
  const bool failed = ::fsync(descriptor) != 0 && errno != EINVAL;
  const int why = errno;
  ::close(descriptor);
  if (failed) return cannot_write(path, why);
  return {};
}

}  // namespace evershard
