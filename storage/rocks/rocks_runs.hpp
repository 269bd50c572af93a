// RocksRuns: a sealed tail as SST files, ingested into all index families in one atomic call together with the mark.

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <rocksdb/sst_file_writer.h>

#include "evershard/storage/index/sealer.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"

namespace evershard::storage {

/// Files are written in a folder of their own, emptied here at the beginning: what a crash left is not needed.
class RocksRuns final : public RunSink {
 public:
  /// `sync_first`: cuts are written without a sync (a node's store), and an index must not outlive its cut.
  RocksRuns(RocksFamilies& families, const RocksOptions& options, std::filesystem::path folder, bool sync_first);

  /// Makes the folder, and makes it empty. Errors: io
  Result<void> prepare_folder();

  Result<void> begin(Family family) override;
  Result<void> put(std::string_view key, std::string_view value) override;
  Result<void> finish() override;
  Result<void> publish(GlobalPosition mark) override;
  void abandon() override;

 private:
  struct File {
    rocksdb::ColumnFamilyHandle* family;
    std::string path;
  };
  Result<void> open_file(rocksdb::ColumnFamilyHandle* handle, const rocksdb::ColumnFamilyOptions& options,
                         std::string_view name);

  RocksFamilies& families_;
  const RocksOptions& options_;
  const std::filesystem::path folder_;
  const bool sync_first_;
  std::uint64_t run_ = 0;
  std::unique_ptr<rocksdb::SstFileWriter> writer_;
  std::string path_;
  std::uint64_t rows_ = 0;
  Family family_{};
  std::vector<File> files_;
};

}  // namespace evershard::storage
