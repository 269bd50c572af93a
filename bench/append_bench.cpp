// The whole store: appends in flight by events each, with versions, with conditions, over few and many shards.

#include <atomic>
#include <deque>
#include <evershard/local.hpp>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "evershard/bench/drive.hpp"
#include "evershard/bench/in_turn.hpp"
#include "evershard/bench/parts.hpp"
#include "evershard/bench/workload.hpp"

namespace evershard::bench {
namespace {

Result<Local> open_fresh(const BenchOptions& options, std::uint32_t shards = 16) {
  return Local::open({.data_dir = fresh(options, "local"), .shards = shards});
}

std::string plain_name(std::uint32_t in_flight, std::size_t events) {
  return "store, " + std::to_string(in_flight) + " in flight of " + std::to_string(events);
}

Result<Figure> plain(const BenchOptions& options, std::uint32_t in_flight, std::size_t events,
                     std::uint32_t shards = 16) {
  auto store = open_fresh(options, shards);
  if (!store) return refuse(store.error());
  Workload workload(options.seed);
  auto out = drive(*store, in_flight, options.seconds, [&] { return workload.append(events); });
  return figure_of(plain_name(in_flight, events) + (shards == 16 ? "" : ", " + std::to_string(shards) + " shard"), out);
}

/// Each event has an id of the caller's, and each append a request id: both are looked for over the whole store.
Result<Figure> named(const BenchOptions& options, std::uint32_t in_flight) {
  auto store = open_fresh(options);
  if (!store) return refuse(store.error());
  Workload workload(options.seed);
  auto out = drive(*store, in_flight, options.seconds, [&] {
    auto append = workload.append(1);
    append.events.front().id = EventId::random();
    append.request_id = EventId::random();
    return append;
  });
  return figure_of(plain_name(in_flight, 1) + ", with event and request ids", out);
}

/// `after`: the head as the client knows it from the answers it got.
Result<Figure> conditional(const BenchOptions& options, std::uint32_t in_flight, std::size_t events, int tags) {
  auto store = open_fresh(options);
  if (!store) return refuse(store.error());
  Workload workload(options.seed);
  std::atomic<std::uint64_t> head{0};
  auto out = drive(
      *store, in_flight, options.seconds,
      [&] {
        auto append = workload.append(events);
        std::vector<Tag> named{"student:" + std::to_string(workload.random().below(100'000))};
        if (tags == 2) named.push_back("course:" + std::to_string(workload.random().below(1'000)));
        append.fail_if(tags == 2 ? Query{}.tags(named) : Query{}.types({"Blocked"}).tags(named),
                       GlobalPosition{head.load(std::memory_order_relaxed)});
        return append;
      },
      [&](const Result<Appended>& answer) {
        if (answer && answer->last_position.value > head) head = answer->last_position.value;
      });
  return figure_of(
      plain_name(in_flight, events) + (tags == 2 ? ", condition on two tags" : ", condition on one tag and one type"),
      out);
}

/// Ten tags, everybody wants them: how often the first try succeeds, and what a refusal costs.
Result<Figure> contended_conditions(const BenchOptions& options) {
  auto store = open_fresh(options);
  if (!store) return refuse(store.error());
  Workload workload(options.seed);
  std::atomic<std::uint64_t> head{0};
  auto out = drive(
      *store, 64, options.seconds,
      [&] {
        auto append = workload.append(1);
        const Tag tag = "seat:" + std::to_string(workload.random().below(10));
        append.events[0].tags.push_back(tag);
        append.fail_if(Query{}.tags({tag}), GlobalPosition{head.load()});
        return append;
      },
      [&](const Result<Appended>& answer) {
        if (answer && answer->last_position.value > head) head = answer->last_position.value;
      });
  auto f = figure_of("store, 64 in flight, contended conditions (10 tags)", out);
  f.more.emplace_back("first_try_success", static_cast<double>(out.done) / static_cast<double>(out.appends));
  f.more.emplace_back("cpu_us_per_append", out.cpu * 1e6 / static_cast<double>(out.appends));
  if (out.refused) f.more.emplace_back("cpu_us_per_refusal_at_most", out.cpu * 1e6 / static_cast<double>(out.refused));
  return f;
}

/// Every append says which version it expects. `shared`: several clients guess, so that some are refused.
Result<Figure> versioned(const BenchOptions& options, std::uint64_t aggregates, bool shared) {
  auto store = open_fresh(options);
  if (!store) return refuse(store.error());
  Workload workload(options.seed);
  std::vector<std::atomic<std::uint64_t>> versions(aggregates);
  auto out = drive(
      *store, 64, options.seconds,
      [&] {
        auto append = workload.append(1);
        const auto n = workload.random().below(aggregates);
        append.events[0].aggregate = AggregateId{"order", std::to_string(n)};
        const auto expected = shared ? versions[n].load() : versions[n]++;
        append.expect(*append.events[0].aggregate, Version::exactly(expected));
        return append;
      },
      [&](const Result<Appended>& answer) {
        if (shared && answer)
          versions[std::stoull(answer->versions[0].aggregate.value)] = answer->versions[0].version.value;
      });
  auto f = figure_of(
      "store, 64 in flight, versioned, " + std::to_string(aggregates) + " aggregates" + (shared ? ", contended" : ""),
      out);
  f.more.emplace_back("first_try_success", static_cast<double>(out.done) / static_cast<double>(out.appends));
  if (out.refused) f.more.emplace_back("cpu_us_per_append", out.cpu * 1e6 / static_cast<double>(out.appends));
  return f;
}

/// One append at a time: what the store adds to a plain file's synced write.
Result<void> appends_alone(const BenchOptions& options, Report& report) {
  auto figures =
      in_turn(options, {{[&] { return plain_file(options, 1); }}, {[&] { return plain(options, 1, 1); }, {{0}}}});
  if (!figures) return refuse(std::move(figures).error());
  const auto median_us = [](const Figure& f) { return f.more.front().second; };
  auto& store = figures->back();
  const double over = median_us(store) - median_us(figures->front());
  store.more.emplace_back("us_over_file", over);
  store.target = "median at most one synced file append plus 60 us";
  store.reached = over <= 60;
  for (auto& figure : *figures) EVERSHARD_TRY(add(options, report, std::move(figure)));
  return {};
}

}  // namespace

Result<void> measure_appends(const BenchOptions& options, Report& report) {
  report.heading("The whole store: one client thread, synced, 16 shards");
  EVERSHARD_TRY(appends_alone(options, report));
  for (const std::uint32_t in_flight : {1, 16, 64, 256}) {
    for (const std::size_t events : {1, 10, 100}) {
      if ((in_flight == 1 || in_flight == 256) && events == 1) continue;  // compared, elsewhere
      EVERSHARD_TRY(add(options, report, plain(options, in_flight, events)));
    }
  }
  EVERSHARD_TRY(report_in_turn(options, report,
                               {{[&] { return storage_alone(options, 256, 1); }},
                                {[&] { return plain(options, 256, 1); }, {{0, 0.60}}},
                                {[&] { return conditional(options, 256, 1, 1); }, {{1, 0.80}}},
                                {[&] { return named(options, 256); }, {{1, 0.90}}}}));
  EVERSHARD_TRY(report_in_turn(options, report,
                               {{[&] { return storage_alone(options, 64, 64); }},
                                {[&] { return plain(options, 64, 64); }, {{0, 0.60}}},
                                {[&] { return conditional(options, 64, 64, 1); }, {{1, 0.85}}}}));
  EVERSHARD_TRY(add(options, report, conditional(options, 1, 1, 1)));
  for (const auto& [in_flight, events] : {std::pair{1u, 1u}, {256u, 1u}, {64u, 64u}})
    EVERSHARD_TRY(add(options, report, conditional(options, in_flight, events, 2)));
  EVERSHARD_TRY(add(options, report, contended_conditions(options)));
  EVERSHARD_TRY(add(options, report, versioned(options, 16, false)));
  EVERSHARD_TRY(add(options, report, versioned(options, 100'000, false)));
  EVERSHARD_TRY(add(options, report, versioned(options, 16, true)));
  return report_in_turn(
      options, report,
      {{[&] { return plain(options, 256, 10, 1); }}, {[&] { return plain(options, 256, 10); }, {{0, 0.75, 1.34}}}});
}

}  // namespace evershard::bench
