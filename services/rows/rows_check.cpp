#include "evershard/services/rows/rows_check.hpp"

#include <memory>
#include <system_error>
#include <utility>

#include <rocksdb/db.h>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/rows/projection_checkpoint.hpp"
#include "evershard/storage/refusals.hpp"
#include "evershard/storage/rocks/rocks_options.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

/// The files of a database, besides those that are made before the first row.
bool holds_rows(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored)) {
    const auto name = at->path().filename().string();
    if (name == "CURRENT" || name.starts_with("MANIFEST-") || name.ends_with(".sst") || name.ends_with(".log"))
      return true;
  }
  return false;
}

/// A disk that cannot be read just now says nothing about what lies on it.
Result<void> unless_of_the_disk(const rocksdb::Status& status, const std::filesystem::path& folder) {
  const bool missing = status.ToString().find("No such file") != std::string::npos;
  if (!status.IsIOError() || missing) return {};
  return refuse(error_of(status, "cannot read the rows in " + folder.string()));
}

class OpenedRows {
 public:
  rocksdb::Status open(const std::string& folder) {
    rocksdb::Options options;
    options.info_log = no_log();
    options.paranoid_checks = true;
    std::vector<std::string> names;
    if (const auto listed = rocksdb::DB::ListColumnFamilies(options, folder, &names); !listed.ok()) return listed;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const auto& name : names) families.emplace_back(name, options);
    rocksdb::DB* opened = nullptr;
    const auto status = rocksdb::DB::OpenForReadOnly(options, folder, families, &handles, &opened);
    db.reset(opened);
    return status;
  }
  ~OpenedRows() {
    for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
  }

  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
};

}  // namespace

Result<std::vector<std::string>> check_rows(const std::filesystem::path& folder, const Progress& progress) {
  std::vector<std::string> found;
  if (!holds_rows(folder)) return found;
  const auto where = folder.filename().string();
  const auto rows_are_lost = [&](const rocksdb::Status& status) {
    found.push_back("the database " + where +
                    " cannot be opened, its rows will be made anew from the events: " + status.ToString());
  };
  OpenedRows rows;
  if (const auto status = rows.open(folder.string()); !status.ok()) {
    EVERSHARD_TRY(unless_of_the_disk(status, folder));
    rows_are_lost(status);
    return found;
  }
  rocksdb::ReadOptions read;
  read.fill_cache = false;
  read.verify_checksums = true;
  std::size_t done = 0;
  for (auto* const family : rows.handles) {
    EVERSHARD_TRY(report(progress, done++, rows.handles.size()));
    if (family->GetName() == rocksdb::kDefaultColumnFamilyName) continue;
    const std::string of = where + ", rows of " + in_quotes(family->GetName(), 300) + ": ";
    std::string row;
    const auto status = rows.db->Get(read, family, rocksdb::Slice(), &row);
    EVERSHARD_TRY(unless_of_the_disk(status, folder));
    const std::unique_ptr<rocksdb::Iterator> at(rows.db->NewIterator(read, family));
    if (status.IsNotFound()) {
      at->SeekToFirst();
      if (!at->Valid() && at->status().ok()) continue;  // a crash came between it and its checkpoint
      found.push_back(of + "there is no checkpoint");
    } else if (!status.ok()) {
      found.push_back(of + "the checkpoint cannot be read: " + status.ToString());
    } else if (const auto checkpoint = decode_checkpoint(row); !checkpoint) {
      found.push_back(of + checkpoint.error().what);
    }
    std::uint64_t walked = 0;
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
      constexpr std::uint64_t rows_between_reports = 4'096;
      if (++walked % rows_between_reports == 0) EVERSHARD_TRY(report(progress, done - 1, rows.handles.size()));
    }
    EVERSHARD_TRY(unless_of_the_disk(at->status(), folder));
    if (!at->status().ok()) found.push_back(of + "they cannot be read to their end: " + at->status().ToString());
  }
  EVERSHARD_TRY(report(progress, rows.handles.size(), rows.handles.size()));
  return found;
}

}  // namespace evershard::storage
