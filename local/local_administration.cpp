#include "evershard/local/local_administration.hpp"

#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "evershard/api/json/types_file.hpp"
#include "evershard/local/local_projections.hpp"
#include "evershard/local/node.hpp"
#include "evershard/local/store_stats.hpp"
#include "evershard/services/documents/lazy_documents.hpp"
#include "evershard/services/engine/projection_host.hpp"
#include "evershard/services/groups/host/group_figures.hpp"
#include "evershard/services/groups/host/group_host.hpp"
#include "evershard/services/scheduled/scheduled_host.hpp"
#include "evershard/services/timers/timer_host.hpp"
#include "evershard/storage/repair/backup.hpp"
#include "evershard/storage/repair/vacuum.hpp"
#include "evershard/storage/repair/verify.hpp"

namespace evershard::cluster {
namespace {

class PartsAdministration final : public LocalAdministration {
 public:
  explicit PartsAdministration(AdministratedParts parts) : parts_(std::move(parts)) {}

  Result<StoreStats> stats() const override {
    auto& node = *parts_.node;
    const auto& identity = node.store().identity();
    const auto use = node.enter();
    if (!use) return cluster::only_named(identity);  // closed: which store it was, and no figures
    auto stats = cluster::stats_of(identity, node.store().stats());
    const auto committer = node.committer().stats();
    stats.appends = committer.appended;
    stats.refused = std::accumulate(committer.refused.begin(), committer.refused.end(), std::uint64_t{0});
    stats.commit_latencies = committer.commit_latencies;
    stats.details.emplace_back("appends.events", committer.events);
    stats.details.emplace_back("appends.duplicates", committer.duplicates);
    stats.details.emplace_back("appends.prepared_again", committer.prepared_again);
    stats.details.emplace_back("appends.waiting", committer.waiting);
    for (std::size_t code = 1; code < committer.refused.size(); ++code) {
      if (committer.refused[code] != 0)
        stats.details.emplace_back("refused." + std::string(name_of(static_cast<ErrorCode>(code))),
                                   committer.refused[code]);
    }
    if (const auto projections = parts_.projections != nullptr ? parts_.projections->figures() : std::nullopt) {
      stats.details.emplace_back("projections.disk_bytes", projections->disk_bytes);
      for (const auto& projection : projections->projections) add_figures(stats.details, projection);
    }
    if (parts_.projections != nullptr && parts_.projections->stands_still())
      stats.details.emplace_back("projections.not_open", 1);
    for (const auto& group : parts_.groups.figures()) add_figures(stats.details, group);
    if (const auto aggregates = node.aggregate_figures()) {
      stats.details.emplace_back("aggregates.known", aggregates->known);
      stats.details.emplace_back("aggregates.live", aggregates->live);
      aggregates->counters.each([&](const char* name, std::uint64_t count) {
        stats.details.emplace_back(std::string("aggregates.") + name, count);
      });
      const auto timers = parts_.timers.figures();
      for (const auto& [name, figure] : {std::pair("pending", timers.pending),
                                         {"overdue", timers.overdue},
                                         {"fired", timers.fired},
                                         {"rejected", timers.rejected},
                                         {"overtaken", timers.overtaken},
                                         {"failed", timers.failed},
                                         {"damaged", timers.damaged},
                                         {"late_us", timers.late_us}})
        stats.details.emplace_back(std::string("timers.") + name, figure);
    }
    for (const auto& figure : scheduled_figures(parts_.scheduled.figures())) stats.details.push_back(figure);
    stats.details.emplace_back("retention.damaged", node.retention().damaged());
    return stats;
  }

  Result<void> flush() override {
    const auto use = parts_.node->enter();
    if (!use) return refuse(use.error());
    return parts_.node->store().seal();
  }

  Result<VerifyReport> verify(Progress progress) override {
    const auto use = parts_.node->enter();
    if (!use) return refuse(use.error());
    auto report = storage::verify(parts_.node->store(), parts_.node->until_closed(std::move(progress)));
    if (!report) return refuse(std::move(report).error());
    const auto& folder = parts_.node->data_dir();
    if (const auto types = folder.empty() ? Result<RegisteredTypes>() : load_types(folder); !types) {
      ++report->errors;
      report->findings.push_back(types.error().what);
    }
    return VerifyReport{report->events,    report->records, report->index_rows,
                        report->snapshots, report->errors,  std::move(report->findings)};
  }

  Result<void> vacuum(Progress progress) override {
    // One that is damaged is told of behind all the rest.
    const auto events = vacuum_events(progress);
    if (!events && events.error().code != ErrorCode::corruption) return events;
    const Progress without_figures = [&](std::uint64_t, std::uint64_t) { return !progress || progress(1, 1); };
    EVERSHARD_TRY(vacuum_documents(0, without_figures));
    EVERSHARD_TRY(vacuum_projections(0, without_figures));
    return events;
  }

  Result<void> vacuum_events(Progress progress) override {
    const auto use = parts_.node->enter();
    if (!use) return refuse(use.error());
    const auto until_closed = parts_.node->until_closed(std::move(progress));
    const auto finished = parts_.node->retention().finish(until_closed);
    if (!finished && finished.error().code != ErrorCode::corruption) return finished;
    EVERSHARD_TRY(storage::vacuum(parts_.node->store(), until_closed));
    return finished;
  }

  Result<void> vacuum_documents(unsigned removed_percent, Progress progress) override {
    const auto use = parts_.node->enter();
    if (!use) return refuse(use.error());
    return parts_.documents.vacuum(parts_.node->until_closed(std::move(progress)), removed_percent);
  }

  Result<void> vacuum_projections(unsigned removed_percent, Progress progress) override {
    const auto use = parts_.node->enter();
    if (!use) return refuse(use.error());
    if (parts_.projections == nullptr) return {};
    return parts_.projections->vacuum(parts_.node->until_closed(std::move(progress)), removed_percent);
  }

  Result<GlobalPosition> backup(const std::filesystem::path& target, BackupOptions options,
                                Progress progress) override {
    const auto use = parts_.node->enter();
    if (!use) return refuse(use.error());
    storage::BackupOptions how;
    how.truth_only = options.truth_only;
    how.up_to = options.up_to;
    how.without_state = std::move(options.without_state);
    how.left_out = std::move(options.left_out);
    return storage::backup(parts_.node->store(), target, how, parts_.node->until_closed(std::move(progress)));
  }

 private:
  const AdministratedParts parts_;
};

}  // namespace

std::unique_ptr<LocalAdministration> local_administration(AdministratedParts parts) {
  return std::make_unique<PartsAdministration>(std::move(parts));
}

}  // namespace evershard::cluster
