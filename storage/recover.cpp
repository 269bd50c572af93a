#include "evershard/storage/recover.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <stdio.h>

#include "evershard/storage/damaged_store.hpp"
#include "evershard/storage/fork.hpp"
#include "evershard/storage/open.hpp"
#include "evershard/storage/rocks_status.hpp"
#include "evershard/storage/store_copy.hpp"
#include "evershard/storage/truth_copy.hpp"

namespace evershard::storage {
namespace {

Refused failed(const std::string& doing) { return refuse(ErrorCode::io, doing + ": " + std::strerror(errno)); }

std::filesystem::path unused_name(const std::filesystem::path& data_dir) {
  std::error_code ignored;
  for (int n = 1;; ++n)
    if (auto path = data_dir / ("db.damaged-" + std::to_string(n)); !std::filesystem::exists(path, ignored)) return path;
}

/// In one step where the file system can: there is a database under the name at every moment, and the damaged one is never under a name that is removed.
Result<void> put_in_place(const std::filesystem::path& data_dir, const std::filesystem::path& made) {
  auto database = data_dir / "db", damaged = unused_name(data_dir);
  if (::rename(made.c_str(), damaged.c_str()) != 0) return failed("cannot rename " + made.string());
  if (::renameat2(AT_FDCWD, damaged.c_str(), AT_FDCWD, database.c_str(), RENAME_EXCHANGE) == 0) return sync_path(data_dir);
  if (::rename(damaged.c_str(), made.c_str()) != 0) return failed("cannot rename " + damaged.string());
  if (::rename(database.c_str(), damaged.c_str()) != 0) return failed("cannot rename " + database.string());
  if (::rename(made.c_str(), database.c_str()) != 0) return failed("cannot rename " + made.string());
  return sync_path(data_dir);
}

StoreOptions for_looking(StoreOptions options) {
  options.create = false;
  options.read_only = false;
  return options;
}

/// Opening makes the indexes and MARK anew; sealed, holes are not met again by the next opening.
Result<void> open_and_seal(const StoreOptions& options) {
  auto opening = for_looking(options);
  opening.accept_loss = true;
  auto whole = open_rocks_store(opening);
  if (!whole) return refuse(std::move(whole).error());
  EVERSHARD_TRY((*whole)->seal());
  (*whole)->close();
  return {};
}

/// What is made is opened where it was made: only what opens takes the place of what is there.
Result<void> copy_into_place(std::unique_ptr<DamagedStore> store, const StoreOptions& options, const RecoveryPlan& plan, const Progress& progress) {
  auto aside = options;
  aside.data_dir = options.data_dir / "recover.part";
  const auto made = aside.data_dir / "db";
  std::error_code error;
  std::filesystem::remove_all(aside.data_dir, error);  // an earlier try's
  if (!std::filesystem::create_directory(aside.data_dir, error)) return refuse(ErrorCode::io, "cannot make " + aside.data_dir.string() + ": " + error.message());
  EVERSHARD_TRY(copy_truth(store->rows(), store->identity(), {.keeps = plan.keeps, .end = plan.acknowledged, .leave_out_damage = true}, options, made, progress));
  EVERSHARD_TRY(open_and_seal(aside));
  EVERSHARD_TRY(sync_path(made));
  EVERSHARD_TRY(put_in_place(options.data_dir, made));
  store.reset();  // and with it the lock
  std::filesystem::remove_all(aside.data_dir, error);
  return {};
}

/// Where the truth stays in place: a fork for a store that lost something, and no indexes if they are not right.
Result<void> repair_in_place(std::unique_ptr<DamagedStore> store, const StoreOptions& options, const Examination& examined) {
  auto rocks = store->rocks();
  store.reset();
  std::unique_ptr<RocksFamilies> families;
  auto database = (options.data_dir / "db").string();
  EVERSHARD_TRY(checked(RocksFamilies::open(rocks, database, /*read_only=*/false, families), "cannot open " + database));
  if (examined.renew_indexes) {
    EVERSHARD_TRY(families->clear_mark(rocks));
    EVERSHARD_TRY(families->clear_indexes(rocks));
  }
  if (!examined.accept_loss) return {};
  auto identity = give_new_fork(*families);
  if (!identity) return refuse(std::move(identity).error());
  return {};
}

}  // namespace

Result<RecoveryPlan> plan_recovery(const StoreOptions& options, const RecoverOptions& how, const Progress& progress) {
  auto store = DamagedStore::open(for_looking(options));
  if (!store) return refuse(std::move(store).error());
  auto examined = (*store)->examine(how, progress);
  if (!examined) return refuse(std::move(examined).error());
  return std::move(examined->plan);
}

Result<RecoveryPlan> recover(const StoreOptions& options, const RecoverOptions& how, const Progress& progress) {
  auto opened = DamagedStore::open(for_looking(options));
  if (!opened) return refuse(std::move(opened).error());
  auto store = std::move(*opened);
  auto examined = store->examine(how, part_of(progress, 0, 50));
  if (!examined) return refuse(std::move(examined).error());
  if (!examined->plan.refusal.empty()) return refuse(ErrorCode::invalid_argument, examined->plan.refusal);
  if (examined->plan.steps.empty()) return std::move(examined->plan);

  if (examined->copy_truth)
    EVERSHARD_TRY(copy_into_place(std::move(store), options, examined->plan, part_of(progress, 50, 90)));
  else if (examined->renew_indexes || examined->accept_loss)
    EVERSHARD_TRY(repair_in_place(std::move(store), options, *examined));
  store.reset();
  EVERSHARD_TRY(report(progress, 90, 100));

  EVERSHARD_TRY(open_and_seal(options));
  if (progress) progress(100, 100);  // it is done, whatever the answer
  return std::move(examined->plan);
}

}  // namespace evershard::storage
