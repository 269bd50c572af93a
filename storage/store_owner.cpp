#include "evershard/storage/store_owner.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>

#include "evershard/protocol/timestamp.hpp"
#include "evershard/storage/files/descriptor.hpp"

namespace evershard::storage {
namespace {

std::optional<pid_t> holder_of_lock(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (!file.is_open() || ::fcntl(file.number(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK || lock.l_pid <= 0)
    return std::nullopt;
  return lock.l_pid;
}

}  // namespace

Result<std::unique_ptr<StoreOwner>> StoreOwner::write(const std::filesystem::path& path) {
  std::string name = "?";
  std::getline(std::ifstream("/proc/self/comm"), name);
  std::ofstream file(path, std::ios::trunc);
  file << "process " << ::getpid() << " (" << name << "), since " << Timestamp::now().text() << '\n';
  if (!file.flush()) return refuse(ErrorCode::io, "cannot write " + path.string());
  return std::unique_ptr<StoreOwner>(new StoreOwner(path));
}

StoreOwner::~StoreOwner() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::string StoreOwner::named_in(const std::filesystem::path& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  if (!line.empty()) return line;
  // Who only looks writes nothing, and holds the lock.
  const auto holder = holder_of_lock(path.parent_path() / "db" / "LOCK");
  if (!holder) return "another process";
  std::string name = "?";
  std::getline(std::ifstream("/proc/" + std::to_string(*holder) + "/comm"), name);
  return "process " + std::to_string(*holder) + " (" + name + "), which reads it";
}

}  // namespace evershard::storage
