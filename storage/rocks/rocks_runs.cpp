#include "evershard/storage/rocks/rocks_runs.hpp"

#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {

RocksRuns::RocksRuns(RocksFamilies& families, const RocksOptions& options, std::filesystem::path folder,
                     bool sync_first)
    : families_(families), options_(options), folder_(std::move(folder)), sync_first_(sync_first) {}

Result<void> RocksRuns::prepare_folder() {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
  if (!error) std::filesystem::create_directories(folder_, error);
  if (error) return refuse(ErrorCode::io, "cannot empty " + folder_.string() + ": " + error.message());
  return {};
}

Result<void> RocksRuns::begin(Family family) {
  if (files_.empty()) ++run_;
  family_ = family;
  auto options = options_.family(family);
  options.bottommost_compression = rocksdb::kDisableCompressionOption;  // the writer would take it; compaction will
  return open_file(families_.handle(family), options, name_of(family));
}

Result<void> RocksRuns::open_file(rocksdb::ColumnFamilyHandle* handle, const rocksdb::ColumnFamilyOptions& options,
                                  std::string_view name) {
  rocksdb::EnvOptions env;
  env.bytes_per_sync = options_.db().bytes_per_sync;
  writer_ = std::make_unique<rocksdb::SstFileWriter>(env, rocksdb::Options(options_.db(), options), handle,
                                                     /*invalidate_page_cache=*/false);
  path_ = (folder_ / (std::to_string(run_) + "-" + std::string(name) + ".sst")).string();
  rows_ = 0;
  EVERSHARD_TRY(checked(writer_->Open(path_), "cannot write " + path_));
  files_.push_back({handle, path_});
  return {};
}

Result<void> RocksRuns::put(std::string_view key, std::string_view value) {
  ++rows_;
  auto status = writer_->Put(rocksdb::Slice(key.data(), key.size()), rocksdb::Slice(value.data(), value.size()));
  if (!status.ok()) return refuse(error_of(status, "cannot write " + path_));
  return {};
}

Result<void> RocksRuns::finish() {
  if (rows_ == 0) {  // RocksDB knows no empty file
    writer_.reset();
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    files_.pop_back();
    return {};
  }
  auto status = writer_->Finish();
  writer_.reset();
  return checked(status, "cannot write " + path_);
}

Result<void> RocksRuns::publish(GlobalPosition mark) {
  EVERSHARD_TRY(open_file(families_.mark(), options_.small(), "mark"));
  EVERSHARD_TRY(put(mark_key, encode_mark(mark)));
  EVERSHARD_TRY(finish());

  if (sync_first_) EVERSHARD_TRY(checked(families_.db().SyncWAL(), "cannot sync the log before a tail is sealed"));
  std::vector<rocksdb::IngestExternalFileArg> arguments;
  for (const auto& file : files_) {
    auto& argument = arguments.emplace_back();
    argument.column_family = file.family;
    argument.external_files = {file.path};
    argument.options.move_files = true;
    argument.options.write_global_seqno = false;
    argument.options.allow_blocking_flush = false;  // nothing but ingestion writes these families: nothing to flush
  }
  EVERSHARD_TRY(checked(families_.db().IngestExternalFiles(arguments), "cannot ingest the files of a sealed tail"));
  files_.clear();
  return {};
}

void RocksRuns::abandon() {
  writer_.reset();
  std::error_code ignored;
  for (const auto& file : files_) std::filesystem::remove(file.path, ignored);
  files_.clear();
}

}  // namespace evershard::storage
