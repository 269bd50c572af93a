#include "evershard/storage/backup.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "evershard/storage/database_lock.hpp"
#include "evershard/storage/open.hpp"
#include "evershard/storage/store_copy.hpp"
#include "evershard/storage/store_maintenance.hpp"
#include "evershard/storage/verify.hpp"

namespace evershard::storage {
namespace {

struct Source {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
};

/// What of a closed database matters: not its lock and its own talk.
Result<std::vector<Source>> files_of(const std::filesystem::path& database) {
  std::vector<Source> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(database, error), end; !error && at != end; at.increment(error)) {
    auto name = at->path().filename().string();
    if (!at->is_regular_file(error) || name == "LOCK" || name.starts_with("LOG") || name.ends_with(".dbtmp")) continue;
    files.push_back({at->path(), at->file_size(error)});
  }
  if (error) return refuse(ErrorCode::io, "cannot list " + database.string() + ": " + error.message());
  std::ranges::sort(files, {}, &Source::path);
  return files;
}

Result<void> copy_closed_store(const std::filesystem::path& source, const StoreCopy& copy, const Progress& progress) {
  auto lock = DatabaseLock::take(source);
  if (!lock) return refuse(std::move(lock).error());
  auto files = files_of(source / "db");
  if (!files) return refuse(std::move(files).error());
  std::error_code error;
  std::filesystem::create_directory(copy.database(), error);
  if (error) return refuse(ErrorCode::io, "cannot create " + copy.database().string() + ": " + error.message());
  std::uint64_t done = 0, total = 0;
  for (const auto& file : *files) total += file.bytes;
  for (const auto& file : *files) {
    EVERSHARD_TRY(report(progress, done, total));
    EVERSHARD_TRY(copy_durably(file.path, copy.database() / file.path.filename()));
    done += file.bytes;
  }
  // It says what the source acknowledged: the copy is compared with it when it is opened.
  if (std::filesystem::exists(source / "MARK", error)) EVERSHARD_TRY(copy_durably(source / "MARK", copy.folder() / "MARK"));
  EVERSHARD_TRY(copy.carry_from(source));
  return sync_path(copy.database());
}

}  // namespace

Result<void> backup(const Store& store, const std::filesystem::path& target, const Progress& progress) {
  auto maintenance = store.maintenance();
  if (!maintenance) return refuse(ErrorCode::invalid_argument, "a backup is made of an open store on disk; this one is in memory, or closed");
  auto copy = StoreCopy::begin(target);
  if (!copy) return refuse(std::move(copy).error());
  EVERSHARD_TRY(report(progress, 0, 3));
  EVERSHARD_TRY(maintenance->link_database(copy->database()));
  EVERSHARD_TRY(copy->carry_from(maintenance->folder()));
  EVERSHARD_TRY(report(progress, 1, 3));
  EVERSHARD_TRY(copy->settle());
  EVERSHARD_TRY(report(progress, 2, 3));
  EVERSHARD_TRY(copy->finish());
  if (progress) progress(3, 3);  // it is done, whatever the answer
  return {};
}

Result<void> restore(const std::filesystem::path& source, const std::filesystem::path& target, const Progress& progress) {
  std::error_code error;
  if (!std::filesystem::exists(source / "db" / "CURRENT", error)) return refuse(ErrorCode::not_found, "there is no store in " + source.string());
  if (source.extension() == ".part") return refuse(ErrorCode::invalid_argument, source.string() + " is a backup that was not finished");
  auto copy = StoreCopy::begin(target);
  if (!copy) return refuse(std::move(copy).error());
  EVERSHARD_TRY(copy_closed_store(source, *copy, part_of(progress, 0, 50)));

  StoreOptions options;
  options.data_dir = copy->folder();
  options.create = false;
  auto store = open_rocks_store(options);
  if (!store) return refuse(std::move(store).error());
  auto verified = verify(**store, part_of(progress, 50, 100));
  if (!verified) return refuse(std::move(verified).error());
  (*store)->close();
  store->reset();
  if (verified->errors > 0)
    return refuse(ErrorCode::corruption, source.string() + " has " + std::to_string(verified->errors) + " errors, the first of which is: " + verified->findings.front());
  EVERSHARD_TRY(copy->settle());
  return copy->finish();
}

}  // namespace evershard::storage
