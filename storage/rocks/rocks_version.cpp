#include "evershard/storage/rocks/rocks_version.hpp"

#include <rocksdb/version.h>

namespace evershard::storage {

std::string rocks_version() { return rocksdb::GetRocksVersionAsString(); }

}  // namespace evershard::storage
