// RocksDB's statuses as errors of ours.

#pragma once

#include <string_view>

#include <rocksdb/status.h>

#include "evershard/protocol/result.hpp"

namespace evershard::storage {

/// `doing`: what was tried, for the sentence. Corruption stays corruption, everything else is io.
Result<void> checked(const rocksdb::Status& status, std::string_view doing);
Error error_of(const rocksdb::Status& status, std::string_view doing);

}  // namespace evershard::storage
