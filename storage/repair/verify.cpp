#include "evershard/storage/repair/verify.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "evershard/storage/open.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"
#include "evershard/storage/repair/findings.hpp"
#include "evershard/storage/repair/store_maintenance.hpp"
#include "evershard/storage/repair/truth_source.hpp"
#include "evershard/storage/repair/verification.hpp"
#include "evershard/storage/rocks/database_lock.hpp"

namespace evershard::storage {
namespace {

bool is_of_an_index(std::string_view family) {
  constexpr std::array indexes{Family::streams, Family::postings, Family::ids, Family::directory, Family::runs};
  return std::ranges::any_of(indexes, [&](Family one) { return name_of(one) == family; });
}

/// `still`: as Verification::Subject has it.
Result<VerifyReport> verify_open(const Store& store, bool still, const Progress& progress) {
  Findings findings(findings_max);
  auto view = store.view();
  Verification verification({store.rows(), store.hasher(), store.identity().shards, view, view.watermark, still},
                            findings);

  // Of a hundred parts: files 20, the truth 50, indexes 25, the state 5.
  VerifyReport made;
  if (auto maintenance = store.maintenance())
    EVERSHARD_TRY(maintenance->check_files(
        [&](const DamagedFile& file) {
          findings.add(file.sentence());
          made.derived.indexes |= is_of_an_index(file.family);
        },
        part_of(progress, 0, 20)));
  EVERSHARD_TRY(verification.truth(part_of(progress, 20, 70)));
  EVERSHARD_TRY(verification.indexes(part_of(progress, 70, 95)));
  EVERSHARD_TRY(verification.state(part_of(progress, 95, 100)));
  EVERSHARD_TRY(report(progress, 100, 100));

  made.derived.indexes |= verification.indexes_differ();
  made.derived.snapshots = verification.damaged_snapshots();
  made.events = verification.events();
  made.records = verification.records();
  made.index_rows = verification.index_rows();
  made.snapshots = verification.snapshots();
  made.errors = findings.errors();
  made.findings = findings.take();
  return made;
}

}  // namespace

Result<VerifyReport> verify(const Store& store, const Progress& progress) {
  return verify_open(store, /*still=*/false, progress);
}

namespace {

/// Read only: the lock is taken beside it, so that no file goes while it is read.
Result<VerifyReport> verify_closed(const std::filesystem::path& data_dir, const Progress& progress) {
  StoreOptions options;
  options.data_dir = data_dir;
  options.create = false;
  options.read_only = true;
  auto store = open_rocks_store(options);  // who only looks may look at a node's part, too
  if (!store) return refuse(std::move(store).error());
  auto made = verify_open(**store, /*still=*/true, progress);
  (*store)->close();
  return made;
}

Result<VerifyReport> verify_truth(const std::filesystem::path& data_dir, const Progress& progress) {
  auto source = TruthSource::of_closed(data_dir);
  if (!source) return refuse(std::move(source).error());
  auto end = source->end_of_copy({});
  if (!end) return refuse(std::move(end).error());
  const auto& identity = source->identity();
  Findings findings(findings_max);
  const View view{*end, GlobalPosition{0}, std::make_shared<const std::vector<std::shared_ptr<const TailIndex>>>()};
  Verification verification(
      {source->rows(), sharding::TermHasher(identity.term_key), identity.shards, view, GlobalPosition{0}}, findings);
  EVERSHARD_TRY(verification.truth(part_of(progress, 0, 95)));
  EVERSHARD_TRY(verification.state(part_of(progress, 95, 100)));
  EVERSHARD_TRY(report(progress, 100, 100));
  VerifyReport made;
  made.events = verification.events();
  made.records = verification.records();
  made.snapshots = verification.snapshots();
  made.errors = findings.errors();
  made.findings = findings.take();
  return made;
}

/// A log that does not read back is refused by its coordinator: the first thing wrong with it is all that is known.
Result<VerifyReport> verify_cut_log(const std::filesystem::path& data_dir, const Progress& progress) {
  auto checked = check_cut_log(data_dir, progress);
  VerifyReport made;
  if (checked) {
    made.events = checked->state.watermark.value;
    made.records = checked->cuts;
    return made;
  }
  if (checked.error().code != ErrorCode::corruption) return refuse(std::move(checked).error());
  made.errors = 1;
  made.findings.push_back(std::move(checked).error().what);
  return made;
}

Result<VerifyReport> verify_as(DirectoryKind kind, const std::filesystem::path& data_dir, const Progress& progress) {
  if (kind == DirectoryKind::cut_log) return verify_cut_log(data_dir, progress);
  if (kind == DirectoryKind::truth_only) return verify_truth(data_dir, progress);
  const auto lock = DatabaseLock::take(data_dir);
  if (!lock) return refuse(lock.error());
  return verify_closed(data_dir, progress);
}

}  // namespace

Result<DirectoryReport> verify_directory(const std::filesystem::path& data_dir, const Progress& progress) {
  const auto content = content_of(data_dir);
  if (!content) return refuse(content.error());
  EVERSHARD_TRY(refuse_what_is_no_store(data_dir, content->kind));
  auto report = verify_as(content->kind, data_dir, progress);
  if (!report) return refuse(std::move(report).error());
  return DirectoryReport{content->kind, content->identity ? content->identity->node : 0, std::move(*report)};
}

}  // namespace evershard::storage
