// Reading: queries by rare, medium and frequent tag, by two tags, by type; an absent tag; the global scan; replay.

#include <fcntl.h>
#include <unistd.h>

#include "evershard/bench/in_turn.hpp"
#include "evershard/bench/parts.hpp"
#include "evershard/bench/storage_load.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/open.hpp"

namespace evershard::bench {
namespace {

constexpr std::uint64_t aggregates_read = 10'000;
constexpr std::uint64_t aggregates_warm = 500;         ///< each is read several times
constexpr std::size_t small_cache_bytes = 128u << 20;  ///< less than a third of a million events of 256 bytes

/// Drops the files' pages from the operating system's cache.
void evict(const std::filesystem::path& directory) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, ignored)) {
    const int file = open(entry.path().c_str(), O_RDONLY);
    if (file < 0) continue;
    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
  }
}

struct Reading {
  std::uint64_t found = 0;
  std::uint64_t reads = 0;
  double seconds = 0;
  Latencies latencies;
};

using MakeQuery = std::function<Query()>;

Result<Reading> read(const storage::Store& store, double seconds, const MakeQuery& make, bool payloads,
                     std::optional<std::uint64_t> limit) {
  const storage::Reader reader(store);
  Reading out;
  std::vector<GlobalPosition> positions;
  std::vector<RecordedEvent> events;
  const double began = now_seconds();
  while (now_seconds() - began < seconds) {
    const auto query = make();
    const double at = now_seconds();
    const auto view = store.view();
    auto cursor = reader.open(view, query, ReadOptions{.limit = limit});
    while (!cursor->at_end()) {
      std::size_t got = 0;
      if (payloads) {
        events.clear();
        EVERSHARD_TRY(cursor->next(1'000, 1u << 20, events));
        got = events.size();
      } else {
        positions.clear();
        auto n = cursor->next_positions(4'096, positions);
        if (!n) return refuse(n.error());
        got = *n;
      }
      out.found += got;
      if (got == 0 || now_seconds() - began > seconds * 2) break;
    }
    out.latencies.add((now_seconds() - at) * 1e6);
    ++out.reads;
  }
  out.seconds = now_seconds() - began;
  return out;
}

Result<Figure> rate(const storage::Store& store, const BenchOptions& options, const std::string& name,
                    const MakeQuery& make, bool payloads, double least = 0, const std::string& target = {}) {
  auto warm_up = read(store, options.seconds / 4, make, payloads, std::nullopt);
  if (!warm_up) return refuse(warm_up.error());
  auto out = read(store, options.seconds / 2, make, payloads, std::nullopt);
  if (!out) return refuse(out.error());
  Figure f{name, static_cast<double>(out->found) / out->seconds, payloads ? "events/s" : "positions/s"};
  if (least > 0) {
    f.target = target;
    f.reached = f.value >= least;
  }
  f.more.emplace_back("found_per_read", static_cast<double>(out->found) / static_cast<double>(out->reads));
  for (auto& p : percentiles(out->latencies)) f.more.push_back(p);
  return f;
}

Result<Figure> latency(const storage::Store& store, const BenchOptions& options, const std::string& name,
                       const MakeQuery& make, std::optional<std::uint64_t> limit, double most,
                       const std::string& target) {
  auto ignored = read(store, options.seconds / 4, make, false, limit);
  if (!ignored) return refuse(ignored.error());
  auto out = read(store, options.seconds / 4, make, false, limit);
  if (!out) return refuse(out.error());
  Figure f{name, out->latencies.percentile(0.5), "us"};
  f.target = target;
  f.reached = f.value <= most;
  for (auto& p : percentiles(out->latencies)) f.more.push_back(p);
  return f;
}

/// Of any of so many aggregates.
Result<Figure> replay(const storage::Store& store, const BenchOptions& options, const std::string& name, double seconds,
                      std::uint64_t among) {
  const storage::Reader reader(store);
  Random random(options.seed);
  Latencies latencies;
  std::uint64_t found = 0;
  std::vector<RecordedEvent> events;
  const double began = now_seconds();
  while (now_seconds() - began < seconds) {
    const double at = now_seconds();
    auto cursor = reader.open(store.view(), AggregateId{"order", std::to_string(random.below(among))}, StreamOptions{});
    while (!cursor->at_end()) {
      events.clear();
      EVERSHARD_TRY(cursor->next(1'000, 1u << 20, events));
      found += events.size();
      if (events.empty()) break;
    }
    latencies.add((now_seconds() - at) * 1e6);
  }
  Figure f{name, static_cast<double>(found) / (now_seconds() - began), "events/s"};
  f.more = percentiles(latencies);
  f.more.emplace_back("events_per_aggregate", static_cast<double>(found) / static_cast<double>(latencies.count()));
  return f;
}

Result<std::unique_ptr<storage::Store>> filled(const BenchOptions& options, std::uint32_t shards) {
  storage::StoreOptions store_options;
  store_options.data_dir = fresh(options, "reads-" + std::to_string(shards));
  store_options.shards = shards;
  {
    auto store = storage::open_store(store_options);
    if (!store) return refuse(store.error());
    Workload::Shape shape;
    shape.aggregates = aggregates_read;
    shape.frequent_tag = true;
    Workload workload(options.seed, shape);
    StorageLoad load(**store, workload);
    while (load.events() < options.events) {
      load.pace();
      EVERSHARD_TRY(load.commit(64, 8));
    }
    EVERSHARD_TRY((*store)->seal());
    (*store)->close();
  }
  return storage::open_store(store_options);
}

}  // namespace

Result<void> measure_reads(const BenchOptions& options, Report& report) {
  report.heading("Reading " + std::to_string(options.events) + " sealed events of 256 bytes");
  auto one_shard = filled(options, 1);
  if (!one_shard) return refuse(one_shard.error());
  auto opened = filled(options, 16);
  if (!opened) return refuse(opened.error());
  const storage::Store& store = **opened;
  Random random(options.seed);
  const auto tag = [&](const char* prefix, std::uint64_t n) {
    return [&random, prefix, n] { return Query{}.tags({prefix + std::to_string(random.below(n))}); };
  };
  const auto type = [&] { return Query{}.types({"Type" + std::to_string(random.below(20))}); };
  // Four tags' blocks are in the block cache after the first queries; those of all thousand take longer.
  const auto positions = [&](const storage::Store& of, const char* suffix) {
    return rate(of, options, std::string("tag query, medium tag, positions only") + suffix, tag("course:", 1'000),
                false, 20e6, "20 M/s");
  };
  const auto payloads = [&](const storage::Store& of, const char* suffix) {
    return rate(of, options, std::string("tag query, medium tag, with payloads, warm") + suffix, tag("course:", 4),
                true, 300e3, "300 k/s");
  };
  EVERSHARD_TRY(report_in_turn(
      options, report,
      {{[&] { return positions(**one_shard, ", 1 shard"); }}, {[&] { return positions(store, ""); }, {{0, 0.75}}}}));
  EVERSHARD_TRY(report_in_turn(
      options, report,
      {{[&] { return payloads(**one_shard, ", 1 shard"); }}, {[&] { return payloads(store, ""); }, {{0, 0.75}}}}));
  (*one_shard)->close();
  one_shard->reset();  // its cache is the others', and what is to be cold would be in it
  // Each of them twice: what is read once is in the cache of blocks, what is read again in that of events.
  std::uint64_t next = 0;
  const auto in_turn = [&next] { return Query{}.tags({"course:" + std::to_string(next++ % 1'000)}); };
  while (next < 2'000) {
    auto some = read(store, 0.05, in_turn, true, std::nullopt);
    if (!some) return refuse(some.error());
  }
  EVERSHARD_TRY(add(options, report,
                    rate(store, options, "tag query, medium tag, with payloads, everything in the cache",
                         tag("course:", 1'000), true)));
  EVERSHARD_TRY(
      add(options, report, rate(store, options, "tag query, rare tag, with payloads", tag("student:", 100'000), true)));
  EVERSHARD_TRY(
      add(options, report, rate(store, options, "tag query, frequent tag, positions only", tag("region:", 10), false)));
  EVERSHARD_TRY(
      add(options, report, rate(store, options, "tag query, frequent tag, with payloads", tag("region:", 10), true)));
  EVERSHARD_TRY(add(options, report,
                    rate(
                        store, options, "query, two tags (medium and frequent), positions only",
                        [&] {
                          return Query{}.tags({"course:" + std::to_string(random.below(1'000)),
                                               "region:" + std::to_string(random.below(10))});
                        },
                        false)));
  EVERSHARD_TRY(add(options, report, rate(store, options, "query by type, positions only", type, false)));
  EVERSHARD_TRY(add(options, report, rate(store, options, "query by type, with payloads", type, true)));
  EVERSHARD_TRY(add(options, report,
                    latency(store, options, "tag query, medium tag, limit 100, positions only", tag("course:", 1'000),
                            100, 50, "50 us")));
  EVERSHARD_TRY(
      add(options, report,
          latency(store, options, "tag query, absent tag", tag("nobody:", 1'000'000), std::nullopt, 5, "5 us")));
  EVERSHARD_TRY(add(
      options, report,
      rate(
          store, options, "global scan with payloads, 16 shards", [] { return Query::all(); }, true, 1e6, "1 M/s")));
  auto warm_up = replay(store, options, "", options.seconds / 2, aggregates_warm);
  if (!warm_up) return refuse(warm_up.error());
  EVERSHARD_TRY(
      add(options, report, replay(store, options, "replay of aggregates, warm", options.seconds / 2, aggregates_warm)));
  (*opened)->close();
  opened->reset();
  const auto directory = options.directory / "reads-16";
  storage::StoreOptions again;
  again.data_dir = directory;
  {
    auto small = again;
    small.block_cache_bytes = small_cache_bytes;
    auto opened_small = storage::open_store(small);
    if (!opened_small) return refuse(opened_small.error());
    EVERSHARD_TRY(add(options, report,
                      rate(**opened_small, options, "tag query, medium tag, with payloads, more than the cache holds",
                           tag("course:", 1'000), true)));
  }
  evict(directory);
  auto cold = storage::open_store(again);
  if (!cold) return refuse(cold.error());
  return add(options, report,
             replay(**cold, options, "replay of aggregates, cold", options.seconds / 4, aggregates_read));
}

}  // namespace evershard::bench
