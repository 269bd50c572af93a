#include "evershard/storage/repair/backup.hpp"

#include <optional>
#include <string>

#include <sys/stat.h>

#include "evershard/storage/repair/store_copy.hpp"
#include "evershard/storage/repair/store_from_truth.hpp"
#include "evershard/storage/repair/store_maintenance.hpp"
#include "evershard/storage/repair/truth_source.hpp"

namespace evershard::storage {
namespace {

Result<GlobalPosition> whole_backup(StoreMaintenance& maintenance, StoreCopy& copy, const Progress& progress) {
  EVERSHARD_TRY(report(progress, 0, 3));
  EVERSHARD_TRY(maintenance.link_database(copy.database()));
  EVERSHARD_TRY(copy.carry_from(maintenance.folder()));
  EVERSHARD_TRY(report(progress, 1, 3));
  auto end = copy.settle();
  if (!end) return end;
  EVERSHARD_TRY(report(progress, 2, 3));
  EVERSHARD_TRY(copy.mark_as_backup());
  EVERSHARD_TRY(copy.finish());
  if (progress) progress(3, 3);  // it is done, whatever the answer
  return end;
}

bool on_one_disk(const std::filesystem::path& a, const std::filesystem::path& b) {
  struct stat of_a {
  }, of_b{};
  return ::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0 && of_a.st_dev == of_b.st_dev;
}

Result<void> backup_of_truth(const Store& store, const TruthSource& source, const TruthToKeep& what, StoreCopy& copy,
                             const Progress& progress) {
  bool one_disk = on_one_disk(source.folder(), copy.folder());
  std::optional<std::string> full;
  Progress watching = [&](std::uint64_t done, std::uint64_t total) {
    if (auto says = one_disk ? store.admission() : Admission{}; says.kind == Admission::Kind::disk) full = says.what;
    return !full && (!progress || progress(done, total));
  };
  auto made = store_from_truth(source, what, copy, watching);
  if (made || !full) return made;
  return refuse(ErrorCode::unavailable, "the backup was given up, on the store's own disk: " + *full);
}

}  // namespace

bool is_backup(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / StoreCopy::backup_mark, ignored);
}

Result<GlobalPosition> backup(const Store& store, const std::filesystem::path& target, const BackupOptions& options,
                              const Progress& progress) {
  if (!options.truth_only && !options.up_to) {
    auto maintenance = store.maintenance();
    if (!maintenance) return refuse(ErrorCode::invalid_argument, backup_of_memory);
    auto copy = StoreCopy::begin(target);
    if (!copy) return refuse(std::move(copy).error());
    return whole_backup(*maintenance, *copy, progress);
  }
  if (store.identity().node != 0) return refuse(ErrorCode::invalid_argument, node_is_copied_whole);
  auto source = TruthSource::of(store);
  if (!source) return refuse(std::move(source).error());
  auto end = source->end_of_copy(options.up_to);
  if (!end) return end;
  auto copy = StoreCopy::begin(target);
  if (!copy) return refuse(std::move(copy).error());
  const TruthToKeep kept{.end = *end,
                         .indexes = !options.truth_only,
                         .env = options.env,
                         .without_state = options.without_state,
                         .left_out = options.left_out ? options.left_out : [](const std::string&) {}};
  EVERSHARD_TRY(backup_of_truth(store, *source, kept, *copy, progress));
  EVERSHARD_TRY(copy->mark_as_backup());
  EVERSHARD_TRY(copy->finish());
  if (progress) progress(100, 100);
  return end;
}

Result<GlobalPosition> backup(const Store& store, const std::filesystem::path& target, const Progress& progress) {
  return backup(store, target, BackupOptions{}, progress);
}

}  // namespace evershard::storage
