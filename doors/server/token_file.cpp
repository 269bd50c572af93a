#include "evershard/doors/server/token_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace evershard::server {
namespace {

constexpr std::size_t token_file_bytes_max = 16u << 20;
constexpr const char* its_name = "the file of tokens";

Refused unreadable(const char* why) {
  return refuse(ErrorCode::io, std::string(its_name) + " (setting tokens) cannot be read: " + why);
}

Result<std::string> text_of_file(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return unreadable(std::strerror(errno));
  std::string text;
  char piece[1u << 16];
  ssize_t n = 0;
  while ((n = ::read(descriptor, piece, sizeof piece)) > 0 && text.size() <= token_file_bytes_max)
    text.append(piece, static_cast<std::size_t>(n));
  const int error = errno;
  ::close(descriptor);
  if (n < 0) return unreadable(std::strerror(error));
  if (text.size() > token_file_bytes_max) return unreadable("it is larger than 16 MiB");
  return text;
}

}  // namespace

TokenFile::TokenFile(std::filesystem::path path)
    : path_(std::move(path)), access_(std::make_shared<const serving::Access>(serving::Access::open())) {}

Result<void> TokenFile::load() {
  if (path_.empty()) return {};
  const auto text = text_of_file(path_);
  if (!text) return refuse(text.error());
  auto access = serving::Access::of_tokens(*text, its_name);
  if (!access) return refuse(std::move(access).error());
  const std::lock_guard lock(mutex_);
  access_ = std::make_shared<const serving::Access>(*std::move(access));
  return {};
}

std::shared_ptr<const serving::Access> TokenFile::access() const {
  const std::lock_guard lock(mutex_);
  return access_;
}

bool TokenFile::is_open_to_others() const {
  struct stat status {};
  return !path_.empty() && ::stat(path_.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0;
}

}  // namespace evershard::server
