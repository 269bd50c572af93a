// Opening a large store after kill -9: time and memory, in processes of their own.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <evershard/local.hpp>

#include "evershard/bench/parts.hpp"
#include "evershard/bench/served.hpp"
#include "evershard/bench/storage_load.hpp"
#include "evershard/storage/open.hpp"

namespace evershard::bench {
namespace {

constexpr std::size_t block_cache_bytes = 128u << 20;  ///< by default it grows with the machine
constexpr const char* load_word = "--benchmark-load-and-die";
constexpr const char* open_word = "--benchmark-open-and-tell";

/// Starts this program as one of its inner processes; its standard output comes back.
Result<std::string> run_inner(const char* what, const std::filesystem::path& directory, std::uint64_t events,
                              int& status) {
  int out[2];
  if (pipe(out) != 0) return refuse(ErrorCode::io, "cannot make a pipe");
  const auto events_text = std::to_string(events);
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], 1);
    close(out[0]);
    close(out[1]);
    execl("/proc/self/exe", "evershard", what, directory.c_str(), events_text.c_str(), nullptr);
    _exit(127);
  }
  close(out[1]);
  std::string text;
  char buffer[4'096];
  for (ssize_t got; (got = read(out[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(out[0]);
  waitpid(child, &status, 0);
  return text;
}

int load_and_die(const char* directory, std::uint64_t events) {
  storage::StoreOptions options;
  options.data_dir = directory;
  options.shards = 16;
  auto store = storage::open_store(options);
  if (!store) return 1;
  Workload workload(1);
  StorageLoad load(**store, workload);
  while (load.events() < events) {
    load.pace();
    if (!load.commit(64, 8)) return 1;
  }
  return raise(SIGKILL);
}

int open_and_tell(const char* directory, std::uint64_t events) {
  const double began = now_seconds();
  auto store = Local::open({.data_dir = directory, .create = false, .block_cache_bytes = block_cache_bytes});
  if (!store) return std::printf("%s\n", store.error().what.c_str()), 1;
  const double took = now_seconds() - began;
  const auto after_open = resident_bytes();
  if (store->head()->value < events)
    return std::printf("only %llu events\n", static_cast<unsigned long long>(store->head()->value)), 1;
  // What it grows to in use: appends, queries and a scan over part of it.
  Workload workload(2);
  for (int i = 0; i < 3'000; ++i)
    if (!store->append(workload.append(100))) return 1;
  std::uint64_t seen = 0;
  for (int i = 0; i < 200; ++i)
    for (auto stream = store->read(Query{}.tags({"course:" + std::to_string(i)}), {.limit = 500});
         const auto& event : stream)
      seen += event.payload.size();
  for (auto stream = store->read(Query::all(), {.limit = 500'000}); const auto& event : stream)
    seen += event.payload.size();
  std::printf("%.6f %llu %llu %llu\n", took, static_cast<unsigned long long>(after_open),
              static_cast<unsigned long long>(resident_bytes()), static_cast<unsigned long long>(seen));
  return 0;
}

}  // namespace

std::optional<int> inner_process(int argc, char** argv) {
  if (argc != 4) return std::nullopt;
  const auto events = std::strtoull(argv[3], nullptr, 10);
  if (std::strcmp(argv[1], load_word) == 0) return load_and_die(argv[2], events);
  if (std::strcmp(argv[1], "--benchmark-serve") == 0) return serve_for_benchmark(argv[2]);
  if (std::strcmp(argv[1], open_word) == 0) return open_and_tell(argv[2], events);
  return std::nullopt;
}

Result<void> measure_opening(const BenchOptions& options, Report& report) {
  report.heading("Opening " + std::to_string(options.open_events) + " events after kill -9");
  const auto directory = fresh(options, "opening");
  int status = 0;
  auto loaded = run_inner(load_word, directory, options.open_events, status);
  if (!loaded) return refuse(loaded.error());
  if (!WIFSIGNALED(status)) return refuse(ErrorCode::io, "the loading process ended by itself: " + *loaded);
  auto told = run_inner(open_word, directory, options.open_events, status);
  if (!told) return refuse(told.error());
  double seconds = 0;
  unsigned long long after_open = 0, in_use = 0;
  if (status != 0 || std::sscanf(told->c_str(), "%lf %llu %llu", &seconds, &after_open, &in_use) != 3)
    return refuse(ErrorCode::io, "the opening process failed: " + *told);
  Figure f{"opening after kill -9", seconds, "s"};
  f.target = "under 3 s";
  f.reached = seconds < 3;
  EVERSHARD_TRY(add(options, report, std::move(f)));
  Figure m{"resident memory in use", static_cast<double>(in_use) / 1e6, "MB"};
  m.target = "under 500 MB";
  m.reached = m.value < 500;
  m.more.emplace_back("after_open_mb", static_cast<double>(after_open) / 1e6);
  return add(options, report, std::move(m));
}

}  // namespace evershard::bench
