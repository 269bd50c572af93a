// Table files: reading every block of a database's files, one by one, so that each that is damaged has a name.

#pragma once

#include <functional>

#include <rocksdb/db.h>

#include "evershard/storage/repair/store_maintenance.hpp"
#include "evershard/storage/rocks/rocks_options.hpp"

namespace evershard::storage {

/// Those that are live at the beginning; they stay until the end.
/// Errors: cancelled, io
Result<void> check_table_files(rocksdb::DB& db, const RocksOptions& options,
                               const std::function<void(const DamagedFile&)>& damaged, const Progress& progress);

}  // namespace evershard::storage
