#include "evershard/local/maintenance.hpp"

#include <algorithm>
#include <iterator>

#include "evershard/api/json/types_file.hpp"
#include "evershard/services/rows/rows_check.hpp"
#include "evershard/storage/repair/backup.hpp"
#include "evershard/storage/repair/recover.hpp"
#include "evershard/storage/repair/verify.hpp"

namespace evershard {
namespace {

storage::StoreOptions store_in(const std::filesystem::path& data_dir) {
  storage::StoreOptions options;
  options.data_dir = data_dir;
  options.create = false;
  return options;
}

Result<RecoveryPlan> ours(Result<storage::RecoveryPlan> from) {
  if (!from) return refuse(std::move(from).error());
  RecoveryPlan plan;
  plan.acknowledged = from->acknowledged;
  plan.keeps = from->keeps;
  plan.lost = from->lost;
  plan.node = from->node;
  plan.more_may_be_lost = from->more_may_be_lost;
  for (const auto& hole : from->holes) plan.holes.emplace_back(hole.from, hole.until);
  plan.findings = std::move(from->findings);
  plan.steps = std::move(from->steps);
  plan.unmended = std::move(from->unmended);
  plan.refusal = std::move(from->refusal);
  return plan;
}

}  // namespace

Result<RecoveryPlan> plan_recovery(const std::filesystem::path& data_dir, RecoveryOptions options, Progress progress) {
  return ours(storage::plan_recovery(store_in(data_dir), {.cut_back = options.cut_back}, progress));
}

Result<RecoveryPlan> recover(const std::filesystem::path& data_dir, RecoveryOptions options, Progress progress) {
  return ours(storage::recover(store_in(data_dir), {.cut_back = options.cut_back}, progress));
}

Result<DirectoryReport> verify_directory(const std::filesystem::path& data_dir, Progress progress) {
  auto checked = storage::verify_directory(data_dir, progress);
  if (!checked) return refuse(std::move(checked).error());
  auto& report = checked->report;
  // Beside the database, and of its own form.
  if (const auto types = load_types(data_dir); !types) {
    ++report.errors;
    report.findings.push_back(types.error().what);
  }
  for (const auto* const rows : {"projections", "documents"}) {
    auto wrong = storage::check_rows(data_dir / rows, progress);
    if (!wrong) return refuse(std::move(wrong).error());
    report.errors += wrong->size();
    std::ranges::move(*wrong, std::back_inserter(report.findings));
  }
  return DirectoryReport{
      name_of(checked->kind),
      checked->node,
      {report.events, report.records, report.index_rows, report.snapshots, report.errors, std::move(report.findings)}};
}

Result<GlobalPosition> restore(const std::filesystem::path& source, const std::filesystem::path& target,
                               RestoreOptions options, Progress progress) {
  return storage::restore(source, target,
                          {.up_to = options.up_to,
                           .without_state = std::move(options.without_state),
                           .left_out = std::move(options.left_out)},
                          progress);
}

Result<GlobalPosition> restore(const std::filesystem::path& source, const std::filesystem::path& target,
                               Progress progress) {
  return restore(source, target, RestoreOptions{}, std::move(progress));
}

}  // namespace evershard
