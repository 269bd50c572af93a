// Ten live projections at half of the append load: what appends feel of them, and how long an event takes to have its
// effect.

#include <algorithm>
#include <atomic>
#include <evershard/local.hpp>
#include <mutex>
#include <thread>

#include "evershard/bench/drive.hpp"
#include "evershard/bench/in_turn.hpp"
#include "evershard/bench/parts.hpp"
#include "evershard/bench/projection_load.hpp"
#include "evershard/bench/workload.hpp"

namespace evershard::bench {
namespace {

constexpr std::uint64_t live_items = 100'000;
constexpr auto looks_every = std::chrono::milliseconds(
    1);  // five times as often, looking itself takes a tenth of a processor, which appends feel

Append one_use(Random& random) {
  Append append;
  append.event(
      item_event(random.below(live_items), random.below(live_items / 10), random.below(100), random.below(2) == 0));
  return append;
}

/// Four tables, three indexes of values, three of queries. Returns: how each one's position is read, without waiting
/// for it.
Result<std::vector<std::function<Result<GlobalPosition>()>>> ten_projections(Local& store) {
  std::vector<std::function<Result<GlobalPosition>()>> all;
  auto& projections = store.projections();
  for (int i = 0; i < 4; ++i) {
    const auto made = projections.create("items-" + std::to_string(i), "table", items_spec());
    if (!made) return refuse(made.error());
    all.emplace_back([&store, name = made->name]() -> Result<GlobalPosition> {
      const auto page = store.tables().select(name, {.limit = 0});
      if (!page) return refuse(page.error());
      return page->position;
    });
  }
  const auto by_index = [&](const std::string& name) {
    all.emplace_back([&projections, name]() -> Result<GlobalPosition> {
      const auto page = projections.read_index(name, {.limit = 1});
      if (!page) return refuse(page.error());
      return page->watermark;
    });
  };
  for (const auto& query :
       {Query{}.types({"ItemUsed"}), Query{}.types({"ItemMade"}), Query{}.types({"ItemUsed", "ItemMade"})}) {
    const auto made = projections.create_index(query);
    if (!made) return refuse(made.error());
    by_index(made->name);
  }
  for (const auto* path : {"$.owner", "$.uses", "$.note"}) {
    const std::string name = "by-" + std::string(path + 2);
    const auto made = projections.create_value_index(
        name,
        {.types = {"ItemUsed", "ItemMade"}, .path = path, .value = path == std::string("$.note") ? "text" : "integer"});
    if (!made) return refuse(made.error());
  }
  return all;
}

struct Acknowledged {
  GlobalPosition position{};
  double at = 0;
};

/// Until `stop`: takes the newest acknowledged event, and looks until a projection has it; each projection in turn.
Result<void> watch_lag(const std::vector<std::function<Result<GlobalPosition>()>>& positions,
                       const std::function<Acknowledged()>& newest, const std::atomic<bool>& stop, Latencies& lags) {
  for (std::size_t turn = 0; !stop; ++turn) {
    const auto wanted = newest();
    if (wanted.position.value == 0) {
      std::this_thread::sleep_for(looks_every);
      continue;
    }
    while (!stop) {
      const auto now = positions[turn % positions.size()]();
      if (!now) return refuse(now.error());
      if (*now >= wanted.position) {
        lags.add((now_seconds() - wanted.at) * 1e6);
        break;
      }
      std::this_thread::sleep_for(looks_every);
    }
  }
  return {};
}

/// What the appends of a round share the processors with.
enum class Beside { nothing, projections, counting };

/// What a round's appends at half load took of the processors, in cores; what its projections took is the difference.
struct Cores {
  double alone = 0, projected = 0;
  [[nodiscard]] double projections() const { return std::clamp(projected - alone, 0.0, 1.0); }
};

/// Until `stop`: takes `share` of a processor for nothing, half a millisecond at a time, with no memory and no disk.
/// Returns: what it took.
double count_for(double share, const std::atomic<bool>& stop) {
  constexpr double turn = 0.0005;
  const double began = now_seconds(), used = thread_cpu_seconds();
  std::uint64_t counted = 0;
  while (!stop) {
    const double mine = thread_cpu_seconds() - used;
    while (thread_cpu_seconds() - used < mine + turn) ++counted;
    while (!stop && thread_cpu_seconds() - used > share * (now_seconds() - began))
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return (thread_cpu_seconds() - used) / (now_seconds() - began);
}

/// Appends at `rate`, whatever the answers do: what waits behind a slow one counts as slow.
Result<Figure> at_half_load(const BenchOptions& options, double rate, Beside beside, Cores& cores, Latencies& lags) {
  auto store = Local::open({.data_dir = fresh(options, "projections-live"), .shards = 16});
  if (!store) return refuse(store.error());
  const bool projected = beside == Beside::projections;
  std::vector<std::function<Result<GlobalPosition>()>> positions;
  if (projected) {
    auto made = ten_projections(*store);
    if (!made) return refuse(std::move(made).error());
    positions = *std::move(made);
  }
  std::mutex mutex;  // completions may come from more than one thread of the store
  Acknowledged newest;
  Latencies latencies;
  std::atomic<std::uint64_t> under_way{0}, failed{0};
  std::atomic<bool> stop{false};
  Result<void> watched{};
  double counted = 0;
  std::thread companion;
  const auto take_newest = [&] {
    const std::lock_guard lock(mutex);
    return newest;
  };
  if (projected) companion = std::thread([&] { watched = watch_lag(positions, take_newest, stop, lags); });
  if (beside == Beside::counting) companion = std::thread([&] { counted = count_for(cores.projections(), stop); });
  Random random(options.seed);
  const double began = now_seconds(), used = cpu_seconds();
  for (std::uint64_t sent = 0; now_seconds() - began < options.seconds; ++sent) {
    const double due = began + static_cast<double>(sent) / rate;
    while (now_seconds() < due) std::this_thread::sleep_for(std::chrono::microseconds(50));
    ++under_way;
    store->append_async(one_use(random), [&, due](const Result<Appended>& answer) {
      if (answer) {
        const std::lock_guard lock(mutex);
        const double now = now_seconds();
        latencies.add((now - due) * 1e6);
        if (answer->last_position > newest.position) newest = {answer->last_position, now};
      } else {
        ++failed;
      }
      --under_way;
    });
  }
  const double busy = (cpu_seconds() - used) / (now_seconds() - began);
  while (under_way != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  stop = true;
  if (companion.joinable()) companion.join();
  EVERSHARD_TRY(watched);
  if (failed != 0) return refuse(ErrorCode::io, std::to_string(failed) + " appends failed");

  Figure figure{"append latency at half load", latencies.percentile(0.5), "us", {}, {}, {}, percentiles(latencies)};
  switch (beside) {
    case Beside::nothing:
      cores.alone = busy;
      break;
    case Beside::projections:
      cores.projected = busy;
      figure.workload += ", 10 projections";
      figure.more.emplace_back("cores_of_projections", cores.projections());
      break;
    case Beside::counting:
      figure.workload += ", as much spent on counting";
      figure.more.emplace_back("cores_of_counting", counted);
      break;
  }
  return figure;
}

}  // namespace

Result<void> measure_live_projections(const BenchOptions& options, Report& report) {
  double full = 0;
  {
    auto store = Local::open({.data_dir = fresh(options, "projections-live"), .shards = 16});
    if (!store) return refuse(store.error());
    Random random(options.seed);
    auto out = drive(*store, 64, options.seconds, [&] { return one_use(random); });
    auto figure = figure_of("appends, 64 in flight, no projection", out);
    full = figure.value;
    EVERSHARD_TRY(add(options, report, std::move(figure)));
  }
  Cores cores;
  Latencies lags;
  const auto beside = [&](Beside what) {
    return [&, what] { return at_half_load(options, full / 2, what, cores, lags); };
  };
  EVERSHARD_TRY(report_in_turn(
      options, report,
      {{beside(Beside::nothing)}, {beside(Beside::projections), {{0, 0, 1.2}}}, {beside(Beside::counting), {{0}}}}));
  const double median = lags.percentile(0.5);
  return add(options, report,
             Figure{"live lag at half load, 10 projections",
                    median,
                    "us",
                    {},
                    "at most 5,000",
                    median <= 5'000,
                    percentiles(lags)});
}

}  // namespace evershard::bench
