#include "evershard/doors/serving/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "evershard/doors/serving/cluster_figures.hpp"
#include "evershard/doors/serving/process_figures.hpp"
#include "evershard/doors/serving/store_figures.hpp"
#include "evershard/protocol/check.hpp"

namespace evershard::serving {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

const Histogram::BucketBoundaries request_seconds{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                  0.05,   0.1,     0.25,   0.5,   1,      2.5,   10};
const Histogram::BucketBoundaries append_events{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384};

double seconds(std::chrono::nanoseconds took) { return std::chrono::duration<double>(took).count(); }

class Method final : public MethodMetrics {
 public:
  Method(std::string door, std::string method, Family<Counter>& requests, Family<Histogram>& latencies,
         std::atomic<std::uint64_t>& refused)
      : door_(std::move(door)),
        method_(std::move(method)),
        requests_(requests),
        ok_(requests.Add({{"door", door_}, {"method", method_}, {"outcome", "ok"}})),
        latency_(latencies.Add({{"door", door_}, {"method", method_}}, request_seconds)),
        refused_(refused) {}

  void answered(std::chrono::nanoseconds took, std::optional<ErrorCode> refused) override {
    latency_.Observe(seconds(took));
    if (!refused) return ok_.Increment();
    refused_.fetch_add(1, std::memory_order_relaxed);
    // Found once a code: under load many appends may be refused.
    auto& known = refused_for_[static_cast<std::size_t>(*refused)];
    auto* counter = known.load(std::memory_order_acquire);
    if (counter == nullptr) {
      counter = &requests_.Add({{"door", door_}, {"method", method_}, {"outcome", std::string(name_of(*refused))}});
      known.store(counter, std::memory_order_release);
    }
    counter->Increment();
  }

 private:
  const std::string door_, method_;
  Family<Counter>& requests_;
  Counter& ok_;
  Histogram& latency_;
  std::atomic<std::uint64_t>& refused_;
  std::array<std::atomic<Counter*>, static_cast<std::size_t>(error_code_last) + 1> refused_for_{};
};

/// What one door counts with every append and page: found once, not each time.
struct DoorCounts {
  std::string_view door;
  Histogram& append_latency;
  Histogram& append_size;
  Counter& read;
  Gauge& open;
  Gauge& live;
  std::function<std::int64_t()> counted_by{};  ///< under the mutex
  bool was_counted = false;
};

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;
  Family<Counter>& requests = prometheus::BuildCounter()
                                  .Name("evershard_requests_total")
                                  .Help("Requests answered, by door, method and outcome: ok, or the error's code.")
                                  .Register(registry);
  Family<Histogram>& request_latency =
      prometheus::BuildHistogram()
          .Name("evershard_request_seconds")
          .Help("Time from a request's last byte to its answer, by door and method; of streams, to their end.")
          .Register(registry);
  Family<Histogram>& append_latency =
      prometheus::BuildHistogram()
          .Name("evershard_append_seconds")
          .Help("Time from an append's arrival at a door to its acknowledgement, by door.")
          .Register(registry);
  Family<Histogram>& append_size = prometheus::BuildHistogram()
                                       .Name("evershard_append_events")
                                       .Help("Events of an acknowledged append, by door.")
                                       .Register(registry);
  Family<Counter>& read = prometheus::BuildCounter()
                              .Name("evershard_events_read_total")
                              .Help("Events given to readers, by door.")
                              .Register(registry);
  Family<Gauge>& open =
      prometheus::BuildGauge().Name("evershard_connections").Help("Open connections, by door.").Register(registry);
  Family<Counter>& turned_away = prometheus::BuildCounter()
                                     .Name("evershard_connections_refused_total")
                                     .Help("Connections closed before or instead of a request, by door and reason.")
                                     .Register(registry);
  Family<Counter>& over_limit =
      prometheus::BuildCounter()
          .Name("evershard_client_refusals_total")
          .Help("Requests and streams refused because their client has had its share, by door and limit.")
          .Register(registry);
  Family<Gauge>& live = prometheus::BuildGauge()
                            .Name("evershard_streams")
                            .Help("Live streams that are open, by door.")
                            .Register(registry);

  [[nodiscard]] DoorCounts counts(const char* door) {
    return {door,
            append_latency.Add({{"door", door}}, request_seconds),
            append_size.Add({{"door", door}}, append_events),
            read.Add({{"door", door}}),
            open.Add({{"door", door}}),
            live.Add({{"door", door}}),
            {},
            false};
  }
  std::array<DoorCounts, 4> doors{counts("http"), counts("grpc"), counts("kurrent"), counts("umadb")};
  [[nodiscard]] DoorCounts& of(std::string_view door) {
    auto* const found = std::find_if(doors.begin(), doors.end(), [&](const auto& each) { return each.door == door; });
    EVERSHARD_CHECK(found != doors.end(), "a door that is counted is http, grpc, kurrent or umadb");
    return *found;
  }

  /// Of doors that have to be asked; their gauges are set on the way.
  [[nodiscard]] std::int64_t counted_connections() {
    const std::lock_guard lock(mutex);
    std::int64_t all = 0;
    for (auto& door : doors) {
      const auto count = door.counted_by ? door.counted_by() : 0;
      if (door.counted_by || door.was_counted) door.open.Set(static_cast<double>(count));
      door.was_counted = door.counted_by != nullptr;
      all += count;
    }
    return all;
  }

  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Method>> methods;
  LatencyCounter append_latencies;
  std::atomic<std::uint64_t> appends{0}, events{0}, refused{0}, reads{0};
  std::atomic<std::int64_t> connections{0}, streams{0};
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

MethodMetrics& Metrics::method(std::string_view door, std::string_view method) {
  const std::lock_guard lock(impl_->mutex);
  auto& found = impl_->methods[{std::string(door), std::string(method)}];
  if (!found)
    found = std::make_unique<Method>(std::string(door), std::string(method), impl_->requests, impl_->request_latency,
                                     impl_->refused);
  return *found;
}

void Metrics::appended(std::string_view door, std::chrono::nanoseconds took, std::size_t events) {
  impl_->append_latencies.add(took);
  impl_->appends.fetch_add(1, std::memory_order_relaxed);
  impl_->events.fetch_add(events, std::memory_order_relaxed);
  auto& counts = impl_->of(door);
  counts.append_latency.Observe(seconds(took));
  counts.append_size.Observe(static_cast<double>(events));
}

void Metrics::events_read(std::string_view door, std::size_t events) {
  impl_->reads.fetch_add(events, std::memory_order_relaxed);
  impl_->of(door).read.Increment(static_cast<double>(events));
}

void Metrics::connections(std::string_view door, int change) {
  impl_->connections.fetch_add(change, std::memory_order_relaxed);
  impl_->of(door).open.Increment(change);
}

void Metrics::connections_from(std::string_view door, std::function<std::int64_t()> count) {
  const std::lock_guard lock(impl_->mutex);
  impl_->of(door).counted_by = std::move(count);
}

void Metrics::connection_refused(std::string_view door, std::string_view why) {
  impl_->turned_away.Add({{"door", std::string(door)}, {"reason", std::string(why)}}).Increment();
}

void Metrics::client_refused(std::string_view door, std::string_view limit) {
  impl_->over_limit.Add({{"door", std::string(door)}, {"limit", std::string(limit)}}).Increment();
}

void Metrics::streams(std::string_view door, int change) {
  impl_->streams.fetch_add(change, std::memory_order_relaxed);
  impl_->of(door).live.Increment(change);
}

DoorFigures Metrics::figures() const {
  DoorFigures figures;
  figures.appends = impl_->appends.load(std::memory_order_relaxed);
  figures.events = impl_->events.load(std::memory_order_relaxed);
  figures.refused = impl_->refused.load(std::memory_order_relaxed);
  figures.reads = impl_->reads.load(std::memory_order_relaxed);
  figures.connections = impl_->connections.load(std::memory_order_relaxed) + impl_->counted_connections();
  figures.streams = impl_->streams.load(std::memory_order_relaxed);
  figures.append_latencies = impl_->append_latencies.read();
  return figures;
}

Result<std::string> Metrics::text(const Administration& administration, const cluster::LongReads& long_reads,
                                  ClusterOrders* cluster, Processes* processes) const {
  auto stats = administration.stats();
  if (!stats) return refuse(std::move(stats).error());
  // It makes the family, so that it is shown before the first connection.
  (void)impl_->counted_connections();
  auto families = impl_->registry.Collect();
  auto store = StoreFigures(*stats, long_reads.figures()).Collect();
  families.insert(families.end(), std::make_move_iterator(store.begin()), std::make_move_iterator(store.end()));
  if (cluster != nullptr) {
    const auto status = cluster->status();
    if (!status) return refuse(status.error());
    auto figures = ClusterFigures(*status).Collect();
    families.insert(families.end(), std::make_move_iterator(figures.begin()), std::make_move_iterator(figures.end()));
  }
  // Their figures lie in events and snapshots: where these cannot be read now, all else is told.
  if (const auto all = processes == nullptr ? Result<std::vector<ProcessInfo>>() : processes->processes()) {
    auto figures = ProcessFigureFamilies(*all).Collect();
    families.insert(families.end(), std::make_move_iterator(figures.begin()), std::make_move_iterator(figures.end()));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace evershard::serving
