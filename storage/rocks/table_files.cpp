#include "evershard/storage/rocks/table_files.hpp"

#include <rocksdb/sst_file_reader.h>

#include "evershard/storage/rocks/rocks_families.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

rocksdb::ColumnFamilyOptions options_of(const RocksOptions& options, const std::string& family) {
  for (std::size_t i = 0; i < family_count; ++i)
    if (family == name_of(static_cast<Family>(i))) return options.family(static_cast<Family>(i));
  return options.small();
}

/// Files that are not needed any more are kept while somebody looks at them. A database opened read only deletes none.
class KeptFiles {
 public:
  explicit KeptFiles(rocksdb::DB& db) : db_(db), held_(db.DisableFileDeletions().ok()) {}
  ~KeptFiles() {
    if (held_) db_.EnableFileDeletions(/*force=*/false);
  }
  KeptFiles(const KeptFiles&) = delete;

 private:
  rocksdb::DB& db_;
  const bool held_;
};

}  // namespace

Result<void> check_table_files(rocksdb::DB& db, const RocksOptions& options,
                               const std::function<void(const DamagedFile&)>& damaged, const Progress& progress) {
  KeptFiles kept(db);
  std::vector<rocksdb::LiveFileMetaData> files;
  db.GetLiveFilesMetaData(&files);
  std::uint64_t done = 0, total = 0;
  for (const auto& file : files) total += file.size;
  for (const auto& file : files) {
    EVERSHARD_TRY(report(progress, done, total));
    auto path = file.db_path + file.name;
    rocksdb::SstFileReader reader(rocksdb::Options(options.db(), options_of(options, file.column_family_name)));
    auto status = reader.Open(path);
    if (status.ok()) status = reader.VerifyChecksum();
    if (!status.ok()) damaged({path, file.column_family_name, status.ToString()});
    done += file.size;
  }
  return report(progress, total, total);
}

}  // namespace evershard::storage
