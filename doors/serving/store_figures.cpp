#include "evershard/doors/serving/store_figures.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace evershard::serving {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

class Families {
 public:
  void gauge(const char* name, const char* help, std::uint64_t value) {
    family(name, help, MetricType::Gauge).push_back(of(MetricType::Gauge, value));
  }
  void counter(const char* name, const char* help, std::uint64_t value) {
    family(name, help, MetricType::Counter).push_back(of(MetricType::Counter, value));
  }
  std::vector<ClientMetric>& family(const char* name, const char* help, MetricType type) {
    families_.push_back({name, help, type, {}});
    return families_.back().metric;
  }
  static ClientMetric of(MetricType type, std::uint64_t value, std::vector<ClientMetric::Label> labels = {},
                         double unit = 1) {
    ClientMetric metric;
    metric.label = std::move(labels);
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = static_cast<double>(value) / unit;
    return metric;
  }
  std::vector<MetricFamily> take() { return std::move(families_); }

 private:
  std::vector<MetricFamily> families_;
};

/// Every fourth bucket: a factor of two each.
ClientMetric histogram_of(const Latencies& latencies) {
  ClientMetric metric;
  auto& histogram = metric.histogram;
  histogram.sample_count = latencies.count();
  histogram.sample_sum = static_cast<double>(latencies.micros_sum) / 1e6;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i + 1 < Latencies::buckets; ++i) {
    seen += latencies.counts[i];
    if (i % 4 == 0) histogram.bucket.push_back({seen, static_cast<double>(Latencies::end_of(i)) / 1e6});
  }
  return metric;
}

/// A detail that is a family of its own.
struct Single {
  std::string_view detail;
  const char* name;
  const char* help;
  MetricType type;
  double unit = 1;  ///< so many make one of what is shown
};
constexpr double micros_in_a_second = 1e6;
constexpr Single singles[] = {
    {"appends.events", "evershard_events_total", "Events stored since the store was opened.", MetricType::Counter},
    {"appends.duplicates", "evershard_appends_duplicate_total",
     "Appends answered as stored already, since the store was opened.", MetricType::Counter},
    {"appends.prepared_again", "evershard_appends_prepared_again_total",
     "Appends that had to be prepared again, since the store was opened.", MetricType::Counter},
    {"failed", "evershard_store_failed",
     "1: a write has failed, and nothing is written until the store is opened again.", MetricType::Gauge},
    {"appends.waiting", "evershard_appends_waiting", "Appends sent and not answered yet: the queue.",
     MetricType::Gauge},
    {"scheduled.pending", "evershard_scheduled_pending", "Scheduled appends that wait, as this process knows.",
     MetricType::Gauge},
    {"scheduled.overdue", "evershard_scheduled_overdue", "Of these: a try failed, and another follows.",
     MetricType::Gauge},
    {"scheduled.appended", "evershard_scheduled_appended_total",
     "Scheduled appends that this process stored, since the store was opened.", MetricType::Counter},
    {"scheduled.refused", "evershard_scheduled_refused_total",
     "Scheduled appends that were refused when they were due, since the store was opened.", MetricType::Counter},
    {"scheduled.failed", "evershard_scheduled_failed_total",
     "Tries to store a scheduled append that failed, since the store was opened.", MetricType::Counter},
    {"scheduled.damaged", "evershard_scheduled_damaged_total",
     "Events of scheduled appends that cannot be read and were passed over, since the store was opened.",
     MetricType::Counter},
    {"scheduled.late_us", "evershard_scheduled_late_seconds",
     "How long behind its time the last scheduled append was settled.", MetricType::Gauge, micros_in_a_second},
    {"retention.damaged", "evershard_retention_damaged_total",
     "What removals and policies could not read and passed over, at each run again, since the store was opened.",
     MetricType::Counter},
    {"timers.pending", "evershard_timers_pending", "Timers that wait, as this process knows.", MetricType::Gauge},
    {"timers.overdue", "evershard_timers_overdue", "Of these: a try failed, and another follows.", MetricType::Gauge},
    {"timers.fired", "evershard_timers_fired_total", "Timers that this process fired, since the store was opened.",
     MetricType::Counter},
    {"timers.rejected", "evershard_timers_rejected_total", "Of these: the aggregate rejected the command.",
     MetricType::Counter},
    {"timers.overtaken", "evershard_timers_overtaken_total",
     "Timers that were set anew or cancelled just before they fired, since the store was opened.", MetricType::Counter},
    {"timers.failed", "evershard_timers_failed_total", "Tries to fire a timer that failed, since the store was opened.",
     MetricType::Counter},
    {"timers.damaged", "evershard_timers_damaged_total",
     "Events that set or cancelled timers, cannot be read and were passed over, since the store was opened.",
     MetricType::Counter},
    {"timers.late_us", "evershard_timers_late_seconds",
     "How long behind its time the last timer that fired was answered.", MetricType::Gauge, micros_in_a_second},
};

const Single* single_for(std::string_view detail) {
  for (const auto& one : singles)
    if (one.detail == detail) return &one;
  return nullptr;
}

/// One family of details that differ in a part of their name: `prefix` + label + `suffix`.
struct Labelled {
  std::string_view prefix, suffix;
  const char* name;
  const char* help;
  const char* label;
  MetricType type;
};
constexpr Labelled labelled[] = {
    {"refused.", "", "evershard_appends_refused_total", "Appends the store refused since it was opened, by reason.",
     "reason", MetricType::Counter},
    {"family.", ".bytes", "evershard_family_bytes", "Sorted files by family.", "family", MetricType::Gauge},
    {"family.", ".files_level_0", "evershard_family_level0_files",
     "Files at level 0 by family: many mean that merging lags behind.", "family", MetricType::Gauge},
    {"memory.promised.", "", "evershard_memory_promised_bytes", "What the settings let a part of the store use.",
     "part", MetricType::Gauge},
    {"memory.", "", "evershard_memory_part_bytes", "Memory by part of the store.", "part", MetricType::Gauge},
    {"groups.", ".lag", "evershard_group_lag", "Positions between what a consumer group has settled and the head.",
     "group", MetricType::Gauge},
    {"groups.", ".unsettled", "evershard_group_unsettled", "Events a consumer group has read and not settled.", "group",
     MetricType::Gauge},
    {"groups.", ".in_flight", "evershard_group_in_flight", "Events that workers of a consumer group have.", "group",
     MetricType::Gauge},
    {"groups.", ".parked", "evershard_group_parked", "Events a consumer group has parked.", "group", MetricType::Gauge},
    {"groups.", ".workers", "evershard_group_workers", "Workers of a consumer group.", "group", MetricType::Gauge},
    {"groups.", ".redeliveries", "evershard_group_redeliveries_total",
     "Rejections, leases that ran out and lost workers of a consumer group, since it was created or reset.", "group",
     MetricType::Counter},
    {"groups.", ".damaged", "evershard_group_damaged_total",
     "Events that a consumer group cannot read and passed over, since it is at this home.", "group",
     MetricType::Counter},
    {"projections.", ".lag", "evershard_projection_lag", "Positions that a projection is behind the watermark.",
     "projection", MetricType::Gauge},
    {"projections.", ".events", "evershard_projection_events_total",
     "Events a projection has handled since the store was opened.", "projection", MetricType::Counter},
    {"projections.", ".errors", "evershard_projection_errors_total",
     "Errors a projection has met since the store was opened.", "projection", MetricType::Counter},
    {"aggregates.", "", "evershard_aggregates",
     "Live aggregates: how many, and what they did since the store was opened.", "figure", MetricType::Gauge},
};

const Labelled* labelled_for(std::string_view name) {
  for (const auto& one : labelled) {
    if (name.starts_with(one.prefix) && name.ends_with(one.suffix) &&
        name.size() > one.prefix.size() + one.suffix.size())
      return &one;
  }
  return nullptr;
}

}  // namespace

std::vector<MetricFamily> StoreFigures::Collect() const {
  Families families;
  families.family("evershard_store_info", "Always 1; which store it is.", MetricType::Gauge)
      .push_back(Families::of(MetricType::Gauge, 1,
                              {{"store_id", stats_.info.store_id},
                               {"shards", std::to_string(stats_.info.shards)},
                               {"format", std::to_string(stats_.info.format)}}));
  families.gauge("evershard_watermark", "The last position that can be read.", stats_.watermark.value);
  families.gauge("evershard_sealed_position", "Indexes up to here lie in sorted files.", stats_.sealed.value);
  families.gauge("evershard_tail_events", "Events whose indexes are in memory.", stats_.tail_events);
  families.counter("evershard_commits_total", "Writes, each with one sync, since the store was opened.",
                   stats_.commits);
  families.counter("evershard_appends_total",
                   "Appends stored since the store was opened, by whatever door or in the process itself.",
                   stats_.appends);
  families.gauge("evershard_disk_bytes", "Size of the store's directory.", stats_.disk_bytes);
  families.gauge("evershard_disk_free_bytes", "Free space of the disk the store is on.", stats_.disk_free_bytes);
  families.gauge("evershard_memory_bytes", "Memory the store uses: cache, memtables, table readers, tails.",
                 stats_.memory_bytes);
  families.gauge("evershard_backend_assertions", "1: RocksDB was built with its assertions, and is slower for it.",
                 stats_.backend_assertions ? 1 : 0);
  families.gauge("evershard_long_reads", "Reads at work that have turned out long.", reads_.at_work);
  families.gauge("evershard_long_reads_waiting", "Long reads that wait for one of the places they share.",
                 reads_.waiting);
  families.counter("evershard_long_reads_total", "Reads that turned out long, since the server started.", reads_.begun);
  families.counter("evershard_long_reads_refused_total",
                   "Long reads refused because too many waited already, since the server started.", reads_.turned_away);
  families
      .family("evershard_commit_seconds", "Time of a write with its sync, since the store was opened.",
              MetricType::Histogram)
      .push_back(histogram_of(stats_.commit_latencies));

  std::vector<std::vector<ClientMetric>> by_label(std::size(labelled));
  std::vector<ClientMetric> others;
  for (const auto& [name, value] : stats_.details) {
    if (const auto* single = single_for(name)) {
      families.family(single->name, single->help, single->type)
          .push_back(Families::of(single->type, value, {}, single->unit));
    } else if (const auto* one = labelled_for(name)) {
      const auto label = name.substr(one->prefix.size(), name.size() - one->prefix.size() - one->suffix.size());
      by_label[static_cast<std::size_t>(one - labelled)].push_back(
          Families::of(one->type, value, {{one->label, label}}));
    } else {
      others.push_back(Families::of(MetricType::Gauge, value, {{"name", name}}));
    }
  }
  for (std::size_t i = 0; i < by_label.size(); ++i) {
    if (!by_label[i].empty())
      families.family(labelled[i].name, labelled[i].help, labelled[i].type) = std::move(by_label[i]);
  }
  if (!others.empty())
    families.family("evershard_detail", "Further figures of the store, by name.", MetricType::Gauge) =
        std::move(others);
  return families.take();
}

}  // namespace evershard::serving
