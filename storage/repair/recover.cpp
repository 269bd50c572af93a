#include "evershard/storage/repair/recover.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <stdio.h>

#include "evershard/storage/open.hpp"
#include "evershard/storage/repair/damaged_store.hpp"
#include "evershard/storage/repair/fork.hpp"
#include "evershard/storage/repair/left_out.hpp"
#include "evershard/storage/repair/store_copy.hpp"
#include "evershard/storage/repair/truth_copy.hpp"
#include "evershard/storage/repair/verify.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"
#include "evershard/storage/steps.hpp"

namespace evershard::storage {
namespace {

Refused failed(const std::string& doing) { return refuse(ErrorCode::io, doing + ": " + std::strerror(errno)); }

std::filesystem::path unused_name(const std::filesystem::path& data_dir) {
  std::error_code ignored;
  for (int n = 1;; ++n)
    if (auto path = data_dir / ("db.damaged-" + std::to_string(n)); !std::filesystem::exists(path, ignored))
      return path;
}

/// In one step where the file system can: there is a database under the name at every moment, and the damaged one is
/// never under a name that is removed.
Result<void> put_in_place(const std::filesystem::path& data_dir, const std::filesystem::path& made) {
  auto database = data_dir / "db", damaged = unused_name(data_dir);
  if (::rename(made.c_str(), damaged.c_str()) != 0) return failed("cannot rename " + made.string());
  if (::renameat2(AT_FDCWD, damaged.c_str(), AT_FDCWD, database.c_str(), RENAME_EXCHANGE) == 0)
    return sync_path(data_dir);
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

/// Whose part it is, as it says itself. Absent: a whole store.
std::optional<ClusterMember> member_of(const Identity& identity) {
  if (identity.node == 0) return std::nullopt;
  return ClusterMember{identity.node, identity.store, identity.fork, identity.term_key, identity.created_at};
}

/// Recovery leaves nothing out of a node's part: the recovered part has to be as whole as an undamaged one.
Result<void> check_node(const Store& node, const std::filesystem::path& data_dir) {
  const auto checked = verify(node);
  if (!checked) return refuse(checked.error());
  if (checked->errors == 0) return {};
  return refuse(ErrorCode::corruption,
                "what was made in " + data_dir.string() +
                    " is not whole, and was given up; nothing was changed. The first thing that is wrong: " +
                    checked->findings.front());
}

/// Opening makes the indexes and MARK anew; sealed, holes are not met again by the next opening.
Result<void> open_and_seal(const StoreOptions& options, const std::optional<ClusterMember>& member, bool accept_loss,
                           bool checks_node = false) {
  auto opening = for_looking(options);
  opening.accept_loss = accept_loss;
  opening.member = member;
  if (!member) {
    auto whole = open_rocks_store(opening);
    if (!whole) return refuse(std::move(whole).error());
    EVERSHARD_TRY((*whole)->seal());
    (*whole)->close();
    return {};
  }
  auto node = open_rocks_node_store(opening);
  if (!node) return refuse(std::move(node).error());
  EVERSHARD_TRY((*node)->seal());
  if (checks_node) EVERSHARD_TRY(check_node(**node, options.data_dir));
  (*node)->close();
  return {};
}

/// A directory in the store's, for a copy of its database. It is deleted in the end, whatever comes of the recovery.
class Aside {
 public:
  static Result<Aside> make(const StoreOptions& options) {
    Aside aside(options);
    std::error_code error;
    std::filesystem::remove_all(aside.options_.data_dir, error);  // an earlier try's
    if (!std::filesystem::create_directory(aside.options_.data_dir, error))
      return refuse(ErrorCode::io, "cannot make " + aside.options_.data_dir.string() + ": " + error.message());
    return aside;
  }
  ~Aside() {
    std::error_code ignored;
    if (!options_.data_dir.empty()) std::filesystem::remove_all(options_.data_dir, ignored);
  }
  Aside(Aside&& from) noexcept : options_(std::move(from.options_)) { from.options_.data_dir.clear(); }
  Aside& operator=(Aside&&) = delete;

  [[nodiscard]] const StoreOptions& options() const { return options_; }
  [[nodiscard]] std::filesystem::path database() const { return options_.data_dir / "db"; }

 private:
  explicit Aside(StoreOptions options) : options_(std::move(options)) { options_.data_dir /= "recover.part"; }
  StoreOptions options_;
};

void step(const StoreOptions& options, const char* name) {
  if (options.at_step) options.at_step(name);
}

/// What is made is opened where it was made: only what opens takes the place of what is there.
Result<void> try_aside(const Aside& aside, const Identity& identity, bool accept_loss) {
  step(aside.options(), steps::recover_made);
  EVERSHARD_TRY(open_and_seal(aside.options(), member_of(identity), accept_loss, /*checks_node=*/true));
  step(aside.options(), steps::recover_opened);
  return sync_path(aside.database());
}

/// Sorted files are never changed: they are linked where that can be. All else is copied.
Result<void> copy_beside(const std::filesystem::path& database, const std::filesystem::path& made) {
  auto files = files_of_closed(database);
  if (!files) return refuse(std::move(files).error());
  std::error_code error;
  if (!std::filesystem::create_directory(made, error))
    return refuse(ErrorCode::io, "cannot make " + made.string() + ": " + error.message());
  for (const auto& file : *files) {
    const auto to = made / file.path.filename();
    if (file.path.extension() == ".sst") {
      std::filesystem::create_hard_link(file.path, to, error);
      if (!error) continue;
    }
    EVERSHARD_TRY(copy_durably(file.path, to));
  }
  return sync_path(made);
}

/// Where the truth stays as it is: a fork for a store that lost something, and no indexes if they are not right.
Result<void> change_copy(const Aside& aside, const RocksOptions& rocks, const Examination& examined) {
  const LeftOut left_out{examined.renew_indexes, examined.snapshots, examined.removals};
  if (!left_out.any() && !examined.accept_loss) return {};
  std::unique_ptr<RocksFamilies> families;
  const auto database = aside.database().string();
  EVERSHARD_TRY(
      checked(RocksFamilies::open(rocks, database, /*read_only=*/false, families), "cannot open " + database));
  EVERSHARD_TRY(leave_out(*families, rocks, left_out));
  if (!examined.accept_loss) return {};
  auto identity = give_new_fork(*families);
  if (!identity) return refuse(std::move(identity).error());
  return {};
}

/// What could be read and is wrong all the same: a snapshot of a version that no event made.
Result<void> leave_out_of_copy(const Aside& aside, const Examination& examined) {
  if (examined.snapshots.empty()) return {};
  const auto rocks = RocksOptions(aside.options()).for_repair();
  const auto database = aside.database().string();
  std::unique_ptr<RocksFamilies> families;
  EVERSHARD_TRY(
      checked(RocksFamilies::open(rocks, database, /*read_only=*/false, families), "cannot open " + database));
  return leave_out(*families, rocks, {.snapshots = examined.snapshots});
}

/// A whole store passes over what it was told is lost; a node does so only where the end of its log is.
bool accepts_loss(const Identity& identity, const Examination& examined) {
  return identity.node == 0 || examined.accept_loss;
}

/// Until here everything was tried in a copy. The lock goes with `store`.
Result<void> mend(std::unique_ptr<DamagedStore> store, const StoreOptions& options, const Examination& examined,
                  const Progress& progress) {
  auto aside = Aside::make(options);
  if (!aside) return refuse(std::move(aside).error());
  const auto identity = store->identity();
  const auto& plan = examined.plan;
  if (examined.copy_truth) {
    EVERSHARD_TRY(copy_truth(store->rows(), identity,
                             {.keeps = plan.keeps, .end = plan.acknowledged, .leave_out_damage = true}, options,
                             aside->database(), progress));
    EVERSHARD_TRY(leave_out_of_copy(*aside, examined));
  } else {
    EVERSHARD_TRY(copy_beside(options.data_dir / "db", aside->database()));
    EVERSHARD_TRY(change_copy(*aside, store->rocks(), examined));
  }
  EVERSHARD_TRY(try_aside(*aside, identity, accepts_loss(identity, examined)));
  // Where MARK is all that is missing, the database stays: it opens.
  if (examined.copy_truth || examined.renew_indexes || examined.accept_loss || !examined.snapshots.empty() ||
      !examined.removals.empty())
    EVERSHARD_TRY(put_in_place(options.data_dir, aside->database()));
  return {};
}

/// Which snapshots are of no event is asked of indexes that are right: once those are made anew. `plan`: its steps are
/// told what is left out then.
Result<void> leave_out_what_no_event_made(const StoreOptions& options, const RecoverOptions& how, RecoveryPlan& plan,
                                          const Progress& progress) {
  auto store = DamagedStore::open(for_looking(options));
  if (!store) return refuse(std::move(store).error());
  auto found = (*store)->examine(how, part_of(progress, 0, 50));
  if (!found) return refuse(std::move(found).error());
  if (found->snapshots.empty()) return {};
  Examination alone;
  alone.snapshots = std::move(found->snapshots);
  std::ranges::move(found->said_of_snapshots, std::back_inserter(plan.steps));
  const auto identity = (*store)->identity();
  EVERSHARD_TRY(mend(std::move(*store), options, alone, part_of(progress, 50, 100)));
  return open_and_seal(options, member_of(identity), accepts_loss(identity, alone));
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

  const auto identity = store->identity();
  EVERSHARD_TRY(mend(std::move(store), options, *examined, part_of(progress, 50, 80)));
  EVERSHARD_TRY(report(progress, 80, 100));
  EVERSHARD_TRY(open_and_seal(options, member_of(identity), accepts_loss(identity, *examined)));
  if (examined->renew_indexes)
    EVERSHARD_TRY(leave_out_what_no_event_made(options, how, examined->plan, part_of(progress, 80, 99)));
  if (progress) progress(100, 100);  // it is done, whatever the answer
  return std::move(examined->plan);
}

}  // namespace evershard::storage
