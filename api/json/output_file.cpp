#include "evershard/api/json/output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/files/synced.hpp"

namespace evershard {
namespace {

constexpr mode_t permissions = 07777;

Refused cannot_write(const std::string& path, int error) {
  return refuse(ErrorCode::io, in_quotes(path, 300) + " cannot be written: " + std::strerror(error));
}

/// /dev/fd/7 and /proc/self/fd/7: 7. They are links too, to what has no name (pipe:[123]), or is written from its
/// beginning when it is opened anew.
std::optional<int> descriptor_named_by(const std::filesystem::path& path) {
  std::error_code unknown;
  const auto folder = std::filesystem::canonical(path.parent_path(), unknown);
  if (unknown || folder != std::filesystem::canonical("/proc/self/fd", unknown)) return std::nullopt;
  const auto name = path.filename().string();
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size() || number < 0) return std::nullopt;
  return number;
}

/// Where a chain of symbolic links ends, whether something is there or not.
struct LinkEnd {
  std::filesystem::path path;
  std::optional<int> descriptor{};  ///< one that is open in this process
};

Result<LinkEnd> follow_links(const std::string& path) {
  constexpr int links_max = 40;  // as Linux
  std::filesystem::path at = std::filesystem::absolute(path);
  for (int links = 0; links != links_max; ++links) {
    if (const auto descriptor = descriptor_named_by(at)) return LinkEnd{at, descriptor};
    std::error_code error;
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(at, error))) return LinkEnd{at};
    const auto next = std::filesystem::read_symlink(at, error);
    if (error) return cannot_write(path, error.value());
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return cannot_write(path, ELOOP);
}

/// NAME.part, held by this process alone. What a process left there that was killed is written anew.
Result<int> take_part(const std::string& part, mode_t mode) {
  constexpr int tries_max = 100;  // each time the file was renamed by who had it
  for (int tries = 0; tries != tries_max; ++tries) {
    const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode);
    if (descriptor < 0 && (errno == ELOOP || errno == ENXIO || errno == EISDIR))
      return refuse(ErrorCode::invalid_argument, in_quotes(part, 300) + " is in the way: the file is written there");
    if (descriptor < 0) return cannot_write(part, errno);
    struct stat held {
    }, named{};
    const char* in_the_way = nullptr;
    if (::fstat(descriptor, &held) != 0 || !S_ISREG(held.st_mode))
      in_the_way = " is in the way: the file is written there";
    else if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      in_the_way = " is being written by another process";
    if (in_the_way != nullptr) {
      ::close(descriptor);
      return refuse(S_ISREG(held.st_mode) ? ErrorCode::unavailable : ErrorCode::invalid_argument,
                    in_quotes(part, 300) + in_the_way);
    }
    const bool same = ::lstat(part.c_str(), &named) == 0 && named.st_ino == held.st_ino && named.st_dev == held.st_dev;
    if (same && ::ftruncate(descriptor, 0) == 0) return descriptor;
    const int error = errno;
    ::close(descriptor);
    if (same) return cannot_write(part, error);
  }
  return refuse(ErrorCode::unavailable, in_quotes(part, 300) + " is being written by other processes");
}

}  // namespace

Result<OutputFile> OutputFile::open(std::string path) {
  if (path.empty()) return cannot_write(path, ENOENT);
  const auto end = follow_links(path);
  if (!end) return refuse(end.error());
  if (end->descriptor) {
    const int opened = ::fcntl(*end->descriptor, F_GETFL);
    const int descriptor = opened < 0 ? -1 : ::fcntl(*end->descriptor, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) return cannot_write(path, errno == EBADF ? ENOENT : errno);
    if ((opened & O_ACCMODE) == O_RDONLY) {
      ::close(descriptor);
      return cannot_write(path, EBADF);
    }
    return OutputFile(std::move(path), "", 0, descriptor);
  }
  struct stat found {};
  if (::lstat(end->path.c_str(), &found) != 0) {
    if (errno != ENOENT || !end->path.has_filename()) return cannot_write(path, errno);
    return beside(std::move(path), end->path.string(), 0);
  }
  if (S_ISREG(found.st_mode)) {
    if (::faccessat(AT_FDCWD, end->path.c_str(), W_OK, AT_EACCESS) != 0) return cannot_write(path, errno);
    return beside(std::move(path), end->path.string(), found.st_mode & permissions);
  }
  if (S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode)) return in_place(std::move(path), end->path.string());
  if (S_ISDIR(found.st_mode)) return cannot_write(path, EISDIR);
  return refuse(ErrorCode::invalid_argument, in_quotes(path, 300) + " is a " +
                                                 (S_ISBLK(found.st_mode) ? "block device" : "socket") +
                                                 ": nothing is written there");
}

Result<OutputFile> OutputFile::beside(std::string path, std::string target, mode_t mode) {
  const auto descriptor = take_part(target + ".part", mode == 0 ? 0666 : mode & 0600);
  if (!descriptor) return refuse(descriptor.error());
  return OutputFile(std::move(path), std::move(target), mode, *descriptor);
}

Result<OutputFile> OutputFile::in_place(std::string path, const std::string& target) {
  const int descriptor = ::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0 && errno == EINTR)
    return refuse(ErrorCode::cancelled, "stopped while nobody read from " + in_quotes(path, 300));
  if (descriptor < 0) return cannot_write(path, errno);
  return OutputFile(std::move(path), "", 0, descriptor);
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  if (!target_.empty()) ::unlink(part().c_str());  // while the lock is held: the file is no other process's
  ::close(descriptor_);
}

bool OutputFile::is_standard_output() const {
  struct stat own {
  }, standard{};
  return ::fstat(descriptor_, &own) == 0 && ::fstat(STDOUT_FILENO, &standard) == 0 && own.st_dev == standard.st_dev &&
         own.st_ino == standard.st_ino;
}

Result<void> OutputFile::keep() {
  if (!target_.empty()) {
    if (mode_ != 0 && ::fchmod(descriptor_, mode_) != 0) return cannot_write(path_, errno);
    if (::fsync(descriptor_) != 0) return cannot_write(path_, errno);
    if (std::rename(part().c_str(), target_.c_str()) != 0) return cannot_write(path_, errno);
  }
  ::close(std::exchange(descriptor_, -1));
  return target_.empty() ? Result<void>() : storage::sync_folder_of(target_);
}

}  // namespace evershard
