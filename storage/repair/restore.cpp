// restore(): from a backup, or a closed store, to a store.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "evershard/storage/journal/last_commit_mark.hpp"
#include "evershard/storage/open.hpp"
#include "evershard/storage/repair/backup.hpp"
#include "evershard/storage/repair/left_out.hpp"
#include "evershard/storage/repair/store_copy.hpp"
#include "evershard/storage/repair/store_from_truth.hpp"
#include "evershard/storage/repair/truth_only.hpp"
#include "evershard/storage/repair/truth_source.hpp"
#include "evershard/storage/repair/verify.hpp"
#include "evershard/storage/rocks/database_lock.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"
#include "evershard/storage/rocks/rocks_options.hpp"
#include "evershard/storage/rocks/rocks_rows.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

Result<void> copy_closed_store(const std::filesystem::path& source, const StoreCopy& copy, const Progress& progress) {
  auto lock = DatabaseLock::take(source);
  if (!lock) return refuse(std::move(lock).error());
  auto files = files_of_closed(source / "db");
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
  if (std::filesystem::exists(source / "MARK", error))
    EVERSHARD_TRY(copy_durably(source / "MARK", copy.folder() / "MARK"));
  EVERSHARD_TRY(copy.carry_from(source));
  return sync_path(copy.database());
}

/// A whole store, or a node's, as which it says it is.
Result<std::unique_ptr<Store>> open_copy(const StoreCopy& copy) {
  StoreOptions options;
  options.data_dir = copy.folder();
  options.create = false;
  const auto identity = RocksFamilies::stored_identity(RocksOptions(options).for_repair(), copy.database().string());
  if (!identity || identity->node == 0) return open_rocks_store(options);  // the opening says why there is no identity
  options.member =
      ClusterMember{identity->node, identity->store, identity->fork, identity->term_key, identity->created_at};
  auto node = open_rocks_node_store(options);
  if (!node) return refuse(std::move(node).error());
  return std::unique_ptr<Store>(std::move(*node));
}

/// How far commits were acknowledged, as the copy knows before that: indexes that are left out take what they know with
/// them. A log that is missing is no index: the database is opened as strictly as by who goes on with it.
Result<GlobalPosition> leave_out_of(const StoreCopy& copy, const LeftOut& what, const RestoreOptions& options) {
  StoreOptions opening;
  opening.create = false;
  const auto rocks = RocksOptions(opening).without_merges();
  std::unique_ptr<RocksFamilies> opened;
  EVERSHARD_TRY(checked(RocksFamilies::open(rocks, copy.database().string(), /*read_only=*/false, opened),
                        "cannot open the copy " + copy.database().string()));
  const auto mark = opened->stored_mark();
  const auto file = LastCommitMark::read(copy.folder() / "MARK");
  if (!file) return refuse(file.error());
  if (!mark && !*file)
    return refuse(mark.error().code, "neither MARK nor the indexes say how far commits were acknowledged: " +
                                         mark.error().what + "; `evershard recover` says what would be lost");
  if (options.left_out && what.indexes) options.left_out("makes all indexes anew from journal and order");
  if (!what.snapshots.empty()) {
    const std::shared_ptr<const RocksFamilies> seen(std::shared_ptr<void>(), opened.get());
    const auto said = said_of_snapshots(RocksRows(seen), what.snapshots);
    if (!said) return refuse(said.error());
    for (const auto& one : *said)
      if (options.left_out) options.left_out(one);
  }
  EVERSHARD_TRY(leave_out(*opened, rocks, what));
  return std::max(mark.value_or(GlobalPosition{0}), *file ? (*file)->watermark : GlobalPosition{0});
}

/// `known`: how far commits were acknowledged. Errors: corruption: it ends before that
Result<VerifyReport> open_and_verify(const StoreCopy& copy, GlobalPosition known, bool seals,
                                     const Progress& progress) {
  auto store = open_copy(copy);
  if (!store) return refuse(std::move(store).error());
  if (const auto end = (*store)->view().watermark; end < known)
    return refuse(ErrorCode::corruption, "acknowledged commits are lost: MARK and the indexes know of position " +
                                             std::to_string(known.value) + ", what is there ends with position " +
                                             std::to_string(end.value));
  if (seals) EVERSHARD_TRY((*store)->seal());
  auto verified = verify(**store, progress);
  (*store)->close();
  return verified;
}

/// File by file, with the indexes that are there, where they are right.
Result<GlobalPosition> restore_whole(const std::filesystem::path& source, StoreCopy& copy,
                                     const RestoreOptions& options, const Progress& progress) {
  EVERSHARD_TRY(copy_closed_store(source, copy, part_of(progress, 0, 50)));
  // Behind an index that is damaged there may be a snapshot that is.
  constexpr int rounds = 3;
  GlobalPosition known{0};
  auto verified = open_and_verify(copy, known, /*seals=*/false, part_of(progress, 50, 75));
  std::optional<Error> why_not_opened;
  for (int round = 0; round != rounds; ++round) {
    LeftOut left_out;
    if (verified) {
      left_out = verified->derived;
    } else if (round == 0 && verified.error().code == ErrorCode::corruption) {
      why_not_opened = verified.error();
      left_out.indexes = true;  // perhaps a damaged index keeps the store from opening
    }
    if (!left_out.any()) break;
    const auto left = leave_out_of(copy, left_out, options);
    if (!left) return refuse(why_not_opened.value_or(left.error()));
    known = std::max(known, *left);
    verified = open_and_verify(copy, known, /*seals=*/true, part_of(progress, 75, 100));
  }
  if (!verified) return refuse(why_not_opened.value_or(verified.error()));
  if (verified->errors > 0)
    return refuse(ErrorCode::corruption, source.string() + " has " + std::to_string(verified->errors) +
                                             " errors, the first of which is: " + verified->findings.front());
  auto end = copy.settle();
  if (!end) return end;
  EVERSHARD_TRY(copy.finish());
  return end;
}

Result<GlobalPosition> restore_truth(const std::filesystem::path& from, const RestoreOptions& options,
                                     const std::filesystem::path& target, const Progress& progress) {
  auto source = TruthSource::of_closed(from);
  if (!source) return refuse(std::move(source).error());
  if (source->identity().node != 0) return refuse(ErrorCode::invalid_argument, node_is_copied_whole);
  auto end = source->end_of_copy(options.up_to);
  if (!end) return end;
  auto copy = StoreCopy::begin(target);
  if (!copy) return refuse(std::move(copy).error());
  EVERSHARD_TRY(store_from_truth(*source,
                                 {.end = *end,
                                  .env = options.env,
                                  .without_state = options.without_state,
                                  .left_out = options.left_out ? options.left_out : [](const std::string&) {}},
                                 *copy, progress));
  EVERSHARD_TRY(copy->finish());
  return end;
}

}  // namespace

Result<GlobalPosition> restore(const std::filesystem::path& source, const std::filesystem::path& target,
                               const RestoreOptions& options, const Progress& progress) {
  std::error_code error;
  if (!std::filesystem::exists(source / "db" / "CURRENT", error))
    return refuse(ErrorCode::not_found, "there is no store in " + source.string());
  if (source.extension() == ".part")
    return refuse(ErrorCode::invalid_argument, source.string() + " is a backup that was not finished");
  if (options.up_to || is_truth_only(source)) return restore_truth(source, options, target, progress);
  auto copy = StoreCopy::begin(target);
  if (!copy) return refuse(std::move(copy).error());
  return restore_whole(source, *copy, options, progress);
}

Result<GlobalPosition> restore(const std::filesystem::path& source, const std::filesystem::path& target,
                               const Progress& progress) {
  return restore(source, target, RestoreOptions{}, progress);
}

}  // namespace evershard::storage
