#include "evershard/storage/rocks/rocks_version.hpp"

#include <rocksdb/version.h>

namespace evershard::storage {

std::string rocks_version() { return rocksdb::GetRocksVersionAsString(); }

bool rocks_has_assertions() {
#ifdef EVERSHARD_ROCKSDB_ASSERTIONS
  return true;
#else
  return false;
#endif
}

}  // namespace evershard::storage
