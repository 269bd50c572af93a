#include "evershard/storage/store_owner.hpp"

#include <fstream>

#include <unistd.h>

#include "evershard/protocol/timestamp.hpp"

namespace evershard::storage {

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
  return line.empty() ? "another process" : line;
}

}  // namespace evershard::storage
