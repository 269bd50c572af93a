#include "evershard/storage/learned/learned_shards.hpp"

#include <fcntl.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include <rocksdb/sst_file_writer.h>

#include "evershard/storage/files/synced.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/learned/learned_files.hpp"
#include "evershard/storage/refusals.hpp"
#include "evershard/storage/rocks/rocks_options.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t file_bytes_max = 64u << 20;  ///< then it is ended: a learning that is broken off goes on there

Refused failed(const std::string& doing, const std::error_code& error) {
  return refuse(ErrorCode::io, doing + ": " + error.message());
}

}  // namespace

struct LearnedShards::Writing {
  explicit Writing(const StoreOptions& options) : rocks(options) {}

  Result<void> begin(Family family, const std::filesystem::path& path) {
    auto columns = rocks.family(family);
    columns.bottommost_compression = rocksdb::kDisableCompressionOption;
    writer = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(), rocksdb::Options(rocks.db(), columns),
                                                      nullptr, /*invalidate_page_cache=*/false);
    return checked(writer->Open(path.string()), "cannot write " + path.string());
  }
  Result<void> put(std::string_view key, std::string_view value) {
    return checked(writer->Put(rocksdb::Slice(key.data(), key.size()), rocksdb::Slice(value.data(), value.size())),
                   "cannot write what is learned");
  }

  const RocksOptions rocks;
  std::unique_ptr<rocksdb::SstFileWriter> writer{};
  std::optional<learned_files::Journal> journal{};  ///< of the file that is being written; absent: it is of the order
  std::size_t order_files = 0;
};

LearnedShards::LearnedShards(const StoreOptions& options)
    : options_(options),
      folder_(learned_files::folder(options.data_dir)),
      writing_(std::make_unique<Writing>(options)) {}

LearnedShards::~LearnedShards() = default;

Result<std::unique_ptr<LearnedShards>> LearnedShards::open(const StoreOptions& options) {
  if (options.data_dir.empty()) return invalid("a node in memory keeps the shards that it began with");
  std::unique_ptr<LearnedShards> learned(new LearnedShards(options));
  EVERSHARD_TRY(learned->look());
  return learned;
}

Result<void> LearnedShards::look() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return failed("cannot make " + folder_.string(), error);
  std::filesystem::remove(folder_ / learned_files::whole_name, error);
  std::vector<std::pair<learned_files::Journal, std::filesystem::path>> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error))
    if (const auto journal = learned_files::journal_named(entry.path().filename().string()))
      files.emplace_back(*journal, entry.path());
    else
      std::filesystem::remove(entry.path(), error);
  if (error) return failed("cannot look into " + folder_.string(), error);
  std::ranges::sort(files, {}, [](const auto& file) { return std::pair(file.first.shard, file.first.first); });
  for (const auto& [journal, path] : files) {
    ShardOffset& end = ends_.try_emplace(journal.shard, ShardOffset{1}).first->second;
    if (journal.first == end)
      end = journal.end;
    else
      std::filesystem::remove(path, error);
  }
  return {};
}

ShardOffset LearnedShards::end(ShardId shard) const {
  const auto end = ends_.find(shard);
  return end == ends_.end() ? ShardOffset{1} : end->second;
}

Result<void> LearnedShards::keep_only(const std::vector<ShardId>& shards) {
  EVERSHARD_TRY(end_file());
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const auto journal = learned_files::journal_named(entry.path().filename().string());
    if (journal && std::ranges::find(shards, journal->shard) == shards.end())
      std::filesystem::remove(entry.path(), error);
  }
  if (error) return failed("cannot look into " + folder_.string(), error);
  std::erase_if(ends_, [&](const auto& of) { return std::ranges::find(shards, of.first) == shards.end(); });
  return {};
}

Result<void> LearnedShards::end_file() {
  if (!writing_->writer) return {};
  const auto journal = std::exchange(writing_->journal, std::nullopt);
  const auto writer = std::exchange(writing_->writer, nullptr);
  EVERSHARD_TRY(checked(writer->Finish(), "cannot write what is learned"));
  const auto name = journal ? learned_files::name_of(*journal) : learned_files::order_name(++writing_->order_files);
  std::error_code error;
  std::filesystem::rename(folder_ / learned_files::unfinished_name, folder_ / name, error);
  if (error) return failed("cannot rename a file in " + folder_.string(), error);
  return sync_path(folder_);
}

Result<void> LearnedShards::add(const ShippedRows& rows) {
  if (rows.first != end(rows.shard))
    return corrupt("what is given of shard " + std::to_string(rows.shard.value) + " begins at offset " +
                   std::to_string(rows.first.value) + " instead of " + std::to_string(end(rows.shard).value));
  for (const auto& [first, bytes] : rows.records) {
    auto record = RecordView::open(bytes, rows.shard, first);
    if (!record) return refuse(std::move(record).error());
    const auto behind = first + record->size();
    if (behind > rows.settled) break;  // somebody may still take it back
    if (first != end(rows.shard))
      return corrupt("a record of shard " + std::to_string(rows.shard.value) + " begins at offset " +
                     std::to_string(first.value) + " instead of " + std::to_string(end(rows.shard).value));
    for (std::size_t i = 0; i != record->size(); ++i)
      if (auto event = record->event(i); !event) return refuse(std::move(event).error());
    const bool goes_on =
        writing_->journal && writing_->journal->shard == rows.shard && writing_->writer->FileSize() < file_bytes_max;
    if (!goes_on) {
      EVERSHARD_TRY(end_file());
      EVERSHARD_TRY(writing_->begin(Family::journal, folder_ / learned_files::unfinished_name));
      writing_->journal = learned_files::Journal{rows.shard, first, first};
    }
    EVERSHARD_TRY(writing_->put(keys::journal(rows.shard, first), bytes));
    writing_->journal->end = behind;
    ends_[rows.shard] = behind;
  }
  return {};
}

Result<void> LearnedShards::begin_order() {
  EVERSHARD_TRY(end_file());
  std::error_code error;
  for (; writing_->order_files != 0; --writing_->order_files)
    std::filesystem::remove(folder_ / learned_files::order_name(writing_->order_files), error);
  return {};
}

Result<void> LearnedShards::add(const sharding::Cut& cut) {
  if (writing_->journal || (writing_->writer && writing_->writer->FileSize() >= file_bytes_max))
    EVERSHARD_TRY(end_file());
  if (!writing_->writer) EVERSHARD_TRY(writing_->begin(Family::order, folder_ / learned_files::unfinished_name));
  return writing_->put(keys::order(cut.first_position), sharding::encode(cut));
}

Result<void> LearnedShards::finish(const LearnedOrder& order) {
  EVERSHARD_TRY(end_file());
  const auto unfinished = folder_ / "WHOLE.part";
  EVERSHARD_TRY(write_synced(unfinished, O_CREAT | O_TRUNC, 0600, learned_files::encode(order)));
  std::error_code error;
  std::filesystem::rename(unfinished, folder_ / learned_files::whole_name, error);
  if (error) return failed("cannot rename " + unfinished.string(), error);
  return sync_path(folder_);
}

Result<void> LearnedShards::forget(const std::filesystem::path& data_dir) {
  std::error_code error;
  std::filesystem::remove_all(learned_files::folder(data_dir), error);
  if (error) return failed("cannot remove " + learned_files::folder(data_dir).string(), error);
  return {};
}

bool has_learned(const std::filesystem::path& data_dir) {
  std::error_code ignored;
  return std::filesystem::exists(learned_files::folder(data_dir) / learned_files::whole_name, ignored);
}

}  // namespace evershard::storage
