// Live aggregates: commands against plain appends of the same load, queries, memory, cold starts beside appends.

#include <malloc.h>

#include <atomic>
#include <evershard/local.hpp>
#include <mutex>
#include <thread>

#include "evershard/bench/appends_beside.hpp"
#include "evershard/bench/counter.hpp"
#include "evershard/bench/in_flight.hpp"
#include "evershard/bench/in_turn.hpp"
#include "evershard/bench/parts.hpp"
#include "evershard/bench/workload.hpp"

namespace evershard::bench {
namespace {

constexpr std::uint64_t aggregates = 10'000;
constexpr std::uint32_t in_flight = 256;

Result<Local> open_aggregates(const BenchOptions& options, const char* folder = "aggregates",
                              AggregateOptions live = {}) {
  auto store = Local::open({.data_dir = fresh(options, folder), .shards = 16, .aggregates = live});
  if (!store) return refuse(store.error());
  EVERSHARD_TRY(store->host<Counter>());
  return store;
}

/// Sends one thing after another, so many under way, for `seconds`; `send(n, done)`.
template <class Send>
Figure drive_through(std::string name, const char* unit, double seconds, std::uint32_t most, Send send) {
  InFlight room(most);
  std::mutex mutex;
  Latencies latencies;
  std::uint64_t good = 0, failed = 0;
  const double began = now_seconds(), cpu = cpu_seconds();
  for (std::uint64_t n = 0; now_seconds() - began < seconds; ++n) {
    room.enter();
    const double sent = now_seconds();
    send(n, [&, sent](bool well) {
      {
        const std::lock_guard lock(mutex);
        latencies.add((now_seconds() - sent) * 1e6);
        ++(well ? good : failed);
      }
      room.leave();
    });
  }
  room.drain();
  Figure f{std::move(name), static_cast<double>(good) / (now_seconds() - began), unit};
  f.more = percentiles(latencies);
  f.more.emplace_back("cpu_us_each",
                      (cpu_seconds() - cpu) * 1e6 / static_cast<double>(std::max<std::uint64_t>(1, good)));
  if (failed) f.more.emplace_back("failed", static_cast<double>(failed));
  return f;
}

/// What a counter's event is, appended by hand: no version expected, nothing decided.
Result<Figure> plain_of_many_aggregates(const BenchOptions& options) {
  auto store = open_aggregates(options);
  if (!store) return refuse(store.error());
  Random random(options.seed);
  return drive_through("plain appends, 10,000 aggregates, 256 in flight", "events/s", options.seconds, in_flight,
                       [&](std::uint64_t, auto done) {
                         store->append_async(
                             Append{}.event("counter-" + std::to_string(random.below(aggregates)), "bench.added", "1"),
                             [done](const Result<Appended>& answer) { done(answer.has_value()); });
                       });
}

Result<void> warm_up(Local& store, std::uint64_t count, std::uint32_t at_once = in_flight) {
  InFlight room(at_once);
  std::atomic<std::uint64_t> failed{0};
  for (std::uint64_t n = 0; n < count; ++n) {
    room.enter();
    store.get<Counter>(std::to_string(n)).ask_async(GetTotal{}, [&](const Answer<Total>& answer) {
      if (!answer) ++failed;
      room.leave();
    });
  }
  room.drain();
  if (failed) return refuse(ErrorCode::io, std::to_string(failed) + " aggregates did not load");
  return {};
}

Result<Figure> commands(const BenchOptions& options, bool hot) {
  auto store = open_aggregates(options);
  if (!store) return refuse(store.error());
  EVERSHARD_TRY(warm_up(*store, aggregates));
  Random random(options.seed);
  return drive_through(
      hot ? "commands, one hot aggregate, 256 in flight" : "commands, 10,000 aggregates, 256 in flight", "events/s",
      options.seconds, in_flight, [&](std::uint64_t, auto done) {
        store->get<Counter>(hot ? "hot" : std::to_string(random.below(aggregates)))
            .ask_async(Add{1}, [done](const Answer<Total>& answer) { done(answer.replied()); });
      });
}

Result<Figure> one_at_a_time(const BenchOptions& options) {
  auto store = open_aggregates(options);
  if (!store) return refuse(store.error());
  EVERSHARD_TRY(warm_up(*store, 1'000));
  Random random(options.seed);
  Latencies latencies;
  const double began = now_seconds();
  while (now_seconds() - began < options.seconds) {
    const double at = now_seconds();
    if (auto answer = store->get<Counter>(std::to_string(random.below(1'000))).ask(Add{1}); !answer)
      return refuse(answer.error());
    latencies.add((now_seconds() - at) * 1e6);
  }
  Figure f{"commands, one at a time", static_cast<double>(latencies.count()) / (now_seconds() - began), "events/s"};
  f.more = percentiles(latencies);
  return f;
}

/// What a command adds to a plain file's synced write.
Result<void> aggregates_alone(const BenchOptions& options, Report& report) {
  auto figures =
      in_turn(options, {{[&] { return plain_file(options, 1); }}, {[&] { return one_at_a_time(options); }, {{0}}}});
  if (!figures) return refuse(std::move(figures).error());
  auto& command = figures->back();
  const double over = command.more.front().second - figures->front().more.front().second;
  command.more.emplace_back("us_over_file", over);
  command.target = "median at most one synced file append plus 150 us";
  command.reached = over <= 150;
  return add(options, report, std::move(command));
}

Result<Figure> queries(const BenchOptions& options) {
  auto store = open_aggregates(options);
  if (!store) return refuse(store.error());
  EVERSHARD_TRY(warm_up(*store, aggregates));
  Random random(options.seed);
  auto f = drive_through("queries, 10,000 live aggregates, 256 in flight", "queries/s", options.seconds, in_flight,
                         [&](std::uint64_t, auto done) {
                           store->get<Counter>(std::to_string(random.below(aggregates)))
                               .ask_async(GetTotal{}, [done](const Answer<Total>& answer) { done(answer.replied()); });
                         });
  f.target = "300 k/s";
  f.reached = f.value >= 300e3;
  return f;
}

/// A million aggregates are asked once each; 100,000 may live at once.
Result<void> memory(const BenchOptions& options, Report& report) {
  auto store =
      open_aggregates(options, "aggregates", {.live_limit = 100'000, .idle_after = std::chrono::milliseconds(0)});
  if (!store) return refuse(store.error());
  malloc_trim(0);
  const double before = static_cast<double>(resident_bytes());
  EVERSHARD_TRY(warm_up(*store, 90'000));
  const double live = static_cast<double>(resident_bytes());
  Figure each{"memory of a live, small aggregate", (live - before) / 90'000, "bytes"};
  each.target = "under 2,048";
  each.reached = each.value < 2'048;
  EVERSHARD_TRY(add(options, report, std::move(each)));
  EVERSHARD_TRY(warm_up(*store, 1'000'000));
  Figure all{"resident memory, a million aggregates known, 100,000 live", static_cast<double>(resident_bytes()) / 1e6,
             "MB"};
  const auto stats = store->stats().value();
  for (const auto& [name, value] : stats.details)
    if (name == "aggregates.live") all.more.emplace_back("live", static_cast<double>(value));
  all.target = "under 500";
  all.reached = all.value < 500;
  return add(options, report, std::move(all));
}

/// 10,000 aggregates of 100 events, asked all at once after an opening, while plain appends go on.
Result<void> cold_start(const BenchOptions& options, Report& report, bool snapshots) {
  {
    auto store = open_aggregates(options);
    if (!store) return refuse(store.error());
    for (std::uint64_t n = 0; n < aggregates; n += 100) {
      Append append;
      for (std::uint64_t i = 0; i < 10'000; ++i)
        append.event("counter-" + std::to_string(n + i % 100), "bench.added", "1");
      if (auto done = store->append(std::move(append)); !done) return refuse(done.error());
    }
    if (snapshots) {
      for (std::uint64_t n = 0; n < aggregates; ++n)
        EVERSHARD_TRY(store->take_snapshot({"counter", std::to_string(n)}, std::chrono::seconds(30)));
    }
    EVERSHARD_TRY(store->flush());
  }
  auto store = Local::open({.data_dir = options.directory / "aggregates", .create = false});
  if (!store) return refuse(store.error());
  EVERSHARD_TRY(store->host<Counter>());

  // Appends at a rate that leaves room, before and while the aggregates load.
  auto beside = std::make_unique<AppendsBeside>(*store);
  const double usual = beside->rate_during([&] { std::this_thread::sleep_for(std::chrono::seconds(1)); });
  Result<void> done{};
  double took = 0;
  const double during = beside->rate_during([&] {
    const double began = now_seconds();
    done = warm_up(*store, aggregates, aggregates);
    took = now_seconds() - began;
  });
  beside.reset();
  EVERSHARD_TRY(done);
  Figure f{std::string("cold start of 10,000 aggregates of 100 events, ") +
               (snapshots ? "with snapshots" : "without snapshots"),
           took, "s"};
  f.more.emplace_back("aggregates_per_s", static_cast<double>(aggregates) / took);
  f.more.emplace_back("appends_beside_of_usual", during / usual);
  f.target = "appends beside it at least 0.80 of usual";
  f.reached = during / usual >= 0.80;
  return add(options, report, std::move(f));
}

}  // namespace

Result<void> measure_aggregates(const BenchOptions& options, Report& report) {
  report.heading("Live aggregates: one client thread, synced, 16 shards");
  EVERSHARD_TRY(report_in_turn(options, report,
                               {{[&] { return plain_of_many_aggregates(options); }},
                                {[&] { return commands(options, false); }, {{0, 0.75}}},
                                {[&] { return commands(options, true); }, {{0, 0.5}}}}));
  EVERSHARD_TRY(aggregates_alone(options, report));
  EVERSHARD_TRY(add(options, report, queries(options)));
  EVERSHARD_TRY(memory(options, report));
  EVERSHARD_TRY(cold_start(options, report, false));
  return cold_start(options, report, true);
}

}  // namespace evershard::bench
