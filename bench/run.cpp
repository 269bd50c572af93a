#include "run.hpp"

#include <unistd.h>

#include <array>

#include "evershard/storage/open.hpp"
#include "parts.hpp"

namespace evershard::bench {

std::filesystem::path fresh(const BenchOptions& options, const std::string& name) {
  const auto path = options.directory / name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

Result<void> run(const BenchOptions& asked, const std::function<void(const std::string&)>& print) {
  struct Part {
    const char* name;
    Result<void> (*measure)(const BenchOptions&, Report&);
  };
  static constexpr std::array<Part, 6> parts{{{"ceilings", measure_ceilings},
                                              {"storage", measure_storage},
                                              {"append", measure_appends},
                                              {"latency", measure_latency},
                                              {"read", measure_reads},
                                              {"open", measure_opening}}};
  BenchOptions options = asked;
  bool known = options.only.empty();
  for (const auto& part : parts) known |= options.only == part.name;
  if (!known) return refuse(ErrorCode::invalid_argument, "there is no part \"" + options.only + "\": ceilings, storage, append, latency, read or open");
  const bool own_directory = options.directory.empty();
  if (own_directory) options.directory = std::filesystem::temp_directory_path() / ("evershard-bench-" + std::to_string(getpid()));

  Report report([&](const std::string& line) {
    if (!options.json) print(line);
  });
  if (auto store = storage::open_store({}); store) {
    const bool assertions = (*store)->stats().backend_assertions;
    report.fact("rocksdb", assertions ? "with assertions (as Debian builds it)" : "release");
    if (!options.json) print(std::string("RocksDB: ") + (assertions ? "with assertions (as Debian builds it)" : "release build"));
  }
  Result<void> done{};
  for (const auto& part : parts) {
    if (!options.only.empty() && options.only != part.name) continue;
    if (options.stop && options.stop()) {
      done = refuse(ErrorCode::cancelled, std::string("interrupted before the part \"") + part.name + '"');
      break;
    }
    if (done = part.measure(options, report); !done) break;
  }
  if (options.json) print(report.json());
  std::error_code ignored;
  if (own_directory) std::filesystem::remove_all(options.directory, ignored);
  return done;
}

}  // namespace evershard::bench
