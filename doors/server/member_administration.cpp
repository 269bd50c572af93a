#include "evershard/doors/server/member_administration.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "evershard/doors/server/given_part.hpp"
#include "evershard/local/local_projections.hpp"
#include "evershard/local/store_stats.hpp"
#include "evershard/services/groups/host/group_figures.hpp"
#include "evershard/storage/repair/backup.hpp"
#include "evershard/storage/repair/vacuum.hpp"
#include "evershard/storage/repair/verify.hpp"

namespace evershard::server {
namespace {

ClusterStatus remembered_status(ClusterView view, std::string trouble) {
  ClusterStatus status;
  status.trouble = std::move(trouble);
  status.coordinator = view.coordinator;
  for (auto& node : view.nodes) {
    const auto own = std::ranges::count(view.shards, node.node, &ClusterView::Shard::node);
    status.nodes.push_back({std::move(node), static_cast<std::uint32_t>(own), {}, 0, 0});
  }
  for (const auto& shard : view.shards) status.shards.push_back({shard.node, shard.epoch, false, {}, {}, {}, {}});
  return status;
}

}  // namespace

Result<void> vacuum_events_of(storage::NodeStore& store, cluster::ClusterRetention& retention,
                              const Progress& progress) {
  const auto finished = retention.finish_here(progress);
  if (!finished && finished.error().code == ErrorCode::cancelled) return finished;
  EVERSHARD_TRY(storage::vacuum(store, progress));
  return finished;
}

Result<StoreStats> MemberAdministration::stats() const {
  const auto& identity = store_.identity();
  auto stats = cluster::stats_of(identity, store_.stats());
  stats.details.emplace_back("cluster.node", identity.node);
  if (const auto hosted = projections_.host().figures()) {
    stats.details.emplace_back("projections.disk_bytes", hosted->disk_bytes);
    for (const auto& projection : hosted->projections) cluster::add_figures(stats.details, projection);
  }
  for (const auto& group : groups_.figures()) cluster::add_figures(stats.details, group);
  for (const auto& figure : cluster::scheduled_figures(scheduled_.figures())) stats.details.push_back(figure);
  stats.details.emplace_back("retention.damaged", retention_.damaged_here());
  if (more_) more_(stats.details);
  return stats;
}

Result<VerifyReport> MemberAdministration::verify(Progress progress) {
  auto report = storage::verify(store_, progress);
  if (!report) return refuse(std::move(report).error());
  VerifyReport verified{report->events,    report->records, report->index_rows,
                        report->snapshots, report->errors,  std::move(report->findings)};
  auto compared = node_.compare_replicas(progress);
  if (!compared) return refuse(std::move(compared).error());
  verified.errors += compared->errors;
  std::ranges::move(compared->findings, std::back_inserter(verified.findings));
  return verified;
}

Result<void> MemberAdministration::vacuum(Progress progress) {
  const auto events = vacuum_events_of(store_, retention_, progress);
  if (!events && (events.error().code == ErrorCode::cancelled || events.error().code == ErrorCode::io)) return events;
  EVERSHARD_TRY(documents_.vacuum(progress));
  EVERSHARD_TRY(projections_.host().vacuum(progress));
  return events;
}

Result<GlobalPosition> MemberAdministration::backup(const std::filesystem::path& target, BackupOptions options,
                                                    Progress progress) {
  storage::BackupOptions copied;
  copied.truth_only = options.truth_only;
  copied.up_to = options.up_to;
  copied.without_state = std::move(options.without_state);
  copied.left_out = std::move(options.left_out);
  return storage::backup(store_, target, copied, progress);
}

Result<ClusterStatus> MemberOrders::status() {
  auto status = links_.cluster_status();
  if (!status) status = remembered_status(node_.view(), status.error().what);
  status->self = node_.view().self;
  status->applied = node_.committer().watch().watermark();
  return status;
}

Result<void> MemberOrders::copy_part(const PartWanted& wanted, PartTaker& taker, const Progress& progress) {
  return give_part_of(store_, node_, wanted, taker, progress);
}

}  // namespace evershard::server
