#include "evershard/storage/rocks/rocks_status.hpp"

#include <string>

namespace evershard::storage {

Error error_of(const rocksdb::Status& status, std::string_view doing) {
  auto code = status.IsCorruption() ? ErrorCode::corruption : ErrorCode::io;
  return Error(code, std::string(doing) + ": " + status.ToString());
}

Result<void> checked(const rocksdb::Status& status, std::string_view doing) {
  if (status.ok()) return {};
  return refuse(error_of(status, doing));
}

}  // namespace evershard::storage
