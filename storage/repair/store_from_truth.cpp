#include "evershard/storage/repair/store_from_truth.hpp"

#include <memory>
#include <string>
#include <vector>

#include "evershard/storage/open.hpp"
#include "evershard/storage/repair/fork.hpp"
#include "evershard/storage/repair/left_out.hpp"
#include "evershard/storage/repair/truth_copy.hpp"
#include "evershard/storage/repair/truth_only.hpp"
#include "evershard/storage/repair/verification.hpp"
#include "evershard/storage/repair/verify.hpp"
#include "evershard/storage/rocks/rocks_rows.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"
#include "evershard/storage/rocks/table_files.hpp"

namespace evershard::storage {
namespace {

StoreOptions options_of_copy(const StoreCopy& copy, rocksdb::Env* env) {
  StoreOptions options;
  options.data_dir = copy.folder();
  options.create = false;
  options.block_cache_bytes = 32u << 20;
  options.memtable_bytes = 16u << 20;
  options.disk_reserve_bytes = 0;
  options.env = env;
  return options;
}

Refused copied_wrong(const StoreCopy& copy, std::uint64_t errors, const std::string& first) {
  return refuse(ErrorCode::corruption, "the copy in " + copy.folder().string() + " has " + std::to_string(errors) +
                                           " errors, the first of which is: " + first);
}

Result<void> make_indexes(const StoreCopy& copy, const TruthToKeep& what, const Progress& progress) {
  auto options = options_of_copy(copy, what.env);
  options.reading_back = part_of(progress, 0, 50);
  auto store = open_rocks_store(options);
  if (!store) return refuse(std::move(store).error());
  EVERSHARD_TRY((*store)->seal());
  auto verified = verify(**store, part_of(progress, 50, 100));
  if (!verified) return refuse(std::move(verified).error());
  if (verified->errors > 0) return copied_wrong(copy, verified->errors, verified->findings.front());
  if (auto end = (*store)->view().watermark; end != what.end)
    return copied_wrong(
        copy, 1, "it ends with position " + std::to_string(end.value) + ", not " + std::to_string(what.end.value));
  (*store)->close();
  return {};
}

/// What verify looks at, without indexes.
Result<void> verify_truth(const StoreCopy& copy, const TruthToKeep& what, const Progress& progress) {
  auto rocks = RocksOptions(options_of_copy(copy, what.env)).for_repair();
  std::unique_ptr<RocksFamilies> opened;
  EVERSHARD_TRY(checked(RocksFamilies::open(rocks, copy.database().string(), /*read_only=*/true, opened),
                        "cannot open the copy " + copy.database().string()));
  std::shared_ptr<const RocksFamilies> families = std::move(opened);
  auto identity = stored_identity(*families);
  if (!identity) return refuse(std::move(identity).error());

  Findings findings(1);
  RocksRows rows(families);
  View view{what.end, GlobalPosition{0}, std::make_shared<const std::vector<std::shared_ptr<const TailIndex>>>()};
  Verification verification({rows, sharding::TermHasher(identity->term_key), identity->shards, view, GlobalPosition{0}},
                            findings);
  EVERSHARD_TRY(check_table_files(
      families->db(), rocks, [&](const DamagedFile& file) { findings.add(file.sentence()); },
      part_of(progress, 0, 20)));
  EVERSHARD_TRY(verification.truth(part_of(progress, 20, 90)));
  EVERSHARD_TRY(verification.state(part_of(progress, 90, 100)));
  if (findings.errors() > 0) return copied_wrong(copy, findings.errors(), findings.kept().front());
  return {};
}

}  // namespace

Result<void> store_from_truth(const TruthSource& source, const TruthToKeep& what, StoreCopy& copy,
                              const Progress& progress) {
  EVERSHARD_TRY(report(progress, 0, 100));
  std::vector<std::string> damaged;
  TruthCopyOptions how{
      .keeps = what.end, .end = source.end(), .compact = !what.indexes, .without_state = what.without_state};
  if (what.left_out) how.snapshot_left_out = [&](std::string_view key) { damaged.emplace_back(key); };
  EVERSHARD_TRY(copy_truth(source.rows(), source.identity(), how, options_of_copy(copy, what.env), copy.database(),
                           part_of(progress, 0, 50)));
  if (!damaged.empty()) {
    const auto said = said_of_snapshots(source.rows(), damaged);
    if (!said) return refuse(said.error());
    for (const auto& one : *said) what.left_out(one);
  }
  EVERSHARD_TRY(copy.carry_from(source.folder()));
  return store_of_copied_truth(source.identity(), what, copy, part_of(progress, 50, 100));
}

Result<void> store_of_copied_truth(const Identity& source, const TruthToKeep& what, StoreCopy& copy,
                                   const Progress& progress) {
  EVERSHARD_TRY(sync_path(copy.database()));
  EVERSHARD_TRY(what.indexes ? make_indexes(copy, what, progress) : verify_truth(copy, what, progress));
  auto end = copy.settle(what.env);
  if (!end) return refuse(std::move(end).error());
  return what.indexes ? Result<void>() : mark_truth_only(copy.folder(), source, *end);
}

}  // namespace evershard::storage
