#include "evershard/bench/run.hpp"

#include <unistd.h>

#include <array>
#include <thread>

#include "evershard/bench/parts.hpp"
#include "evershard/storage/rocks/rocks_version.hpp"

/// jemalloc's, where the program has it: figures depend on it.
extern "C" int mallctl(const char*, void*, std::size_t*, void*, std::size_t) __attribute__((weak));

namespace evershard::bench {

std::filesystem::path fresh(const BenchOptions& options, const std::string& name) {
  const auto path = options.directory / name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

Result<void> add(const BenchOptions& options, Report& report, Result<Figure> figure) {
  if (!figure) return refuse(std::move(figure).error());
  report.add(std::move(*figure));
  if (options.stop && options.stop())
    return refuse(ErrorCode::cancelled, "interrupted: the figures so far were measured in full");
  return {};
}

namespace {

struct Part {
  const char* name;
  Result<void> (*measure)(const BenchOptions&, Report&);
};
constexpr std::array<Part, 16> all_parts{{{"ceilings", measure_ceilings},
                                          {"storage", measure_storage},
                                          {"append", measure_appends},
                                          {"latency", measure_latency},
                                          {"read", measure_reads},
                                          {"aggregates", measure_aggregates},
                                          {"processes", measure_processes},
                                          {"door", measure_door},
                                          {"served", measure_served_reads},
                                          {"link", measure_link},
                                          {"ordering", measure_ordering},
                                          {"cluster", measure_cluster},
                                          {"replicas", measure_replicas},
                                          {"copies", measure_replica_copies},
                                          {"projections", measure_projections},
                                          {"open", measure_opening}}};

}  // namespace

std::vector<std::string> parts() {
  std::vector<std::string> names;
  for (const auto& part : all_parts) names.emplace_back(part.name);
  return names;
}

Result<void> run(const BenchOptions& asked, const std::function<void(const std::string&)>& print) {
  BenchOptions options = asked;
  bool known = options.only.empty();
  for (const auto& part : all_parts) known |= options.only == part.name;
  if (!known) {
    std::string names;
    for (const auto& name : parts()) names += (names.empty() ? "" : ", ") + name;
    return refuse(ErrorCode::invalid_argument, "there is no part \"" + options.only + "\": it is one of " + names);
  }
  if (options.directory.empty()) options.directory = std::filesystem::temp_directory_path();
  options.directory /= "evershard-bench-" + std::to_string(getpid());  // nothing else's is removed for a store

  Report report(options.style, print);
  report.fact("rocksdb",
              storage::rocks_version() +
                  (storage::rocks_has_assertions() ? ", with assertions, as Debian builds it" : ", release"));
  report.fact("allocator", mallctl != nullptr ? "jemalloc" : "the C library's");
  report.fact("cores", std::to_string(std::thread::hardware_concurrency()));
  Result<void> done{};
  for (const auto& part : all_parts) {
    if (!options.only.empty() && options.only != part.name) continue;
    if (done = part.measure(options, report); !done) break;
  }
  report.finish();
  std::error_code ignored;
  std::filesystem::remove_all(options.directory, ignored);
  return done;
}

}  // namespace evershard::bench
