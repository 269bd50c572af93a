#include "evershard/api/json/input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard {
namespace {

Refused cannot_read(const std::string& path, int error) {
  return refuse(error == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                in_quotes(path, 300) + " cannot be read: " + std::strerror(error));
}

}  // namespace

Result<Input> Input::open(const std::string& path) {
  const int descriptor = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_read(path, errno);
  struct stat about {};
  if (::fstat(descriptor, &about) == 0 && S_ISDIR(about.st_mode)) {
    if (descriptor != STDIN_FILENO) ::close(descriptor);
    return cannot_read(path, EISDIR);
  }
  return Input(descriptor, S_ISREG(about.st_mode) ? static_cast<std::uint64_t>(about.st_size) : 0);
}

Input::~Input() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

Result<std::string> Input::read_all(std::size_t bytes_max) {
  std::string all;
  char part[64u << 10];
  for (;;) {
    const auto n = ::read(descriptor_, part, sizeof part);
    if (n == 0) return all;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return refuse(ErrorCode::io, std::string("the input cannot be read: ") + std::strerror(errno));
    all.append(part, static_cast<std::size_t>(n));
    if (all.size() > bytes_max)
      return refuse(ErrorCode::too_large, "the input is longer than " + std::to_string(bytes_max) + " bytes");
  }
}

}  // namespace evershard
