// run(): the whole benchmark, or a part of it, in one run, so that ratios mean something.

#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/result.hpp"

namespace evershard::bench {

struct BenchOptions {
  std::filesystem::path
      directory{};       ///< it makes a folder of its own in it, removed afterwards; empty: in the temporary directory
  std::string only{};    ///< a part: one of parts(); empty: all
  double seconds = 2.0;  ///< how long each append workload runs
  std::size_t rounds = 5;                  ///< in how many turns what is compared is measured
  std::uint64_t events = 1'000'000;        ///< what reads run over
  std::uint64_t open_events = 10'000'000;  ///< what opening runs over
  /// A line a figure, for people or as JSON Lines, as soon as it is measured; or one JSON document at the end.
  enum class Style { text, json_lines, json } style = Style::text;
  std::uint64_t seed = 1;
  std::function<bool()> stop{};  ///< asked after every workload
};

/// The parts' names.
[[nodiscard]] std::vector<std::string> parts();

/// Errors: io, cancelled, invalid_argument (an unknown part)
Result<void> run(const BenchOptions& options, const std::function<void(const std::string&)>& print);

/// Inner processes of the benchmark: loading a store and dying by kill -9; opening one and telling time and memory.
/// Shape:   a program that calls run() asks this first: the benchmark starts it again as one of these.
/// Returns: an exit status, if `argv[1]` names one of them.
[[nodiscard]] std::optional<int> inner_process(int argc, char** argv);

}  // namespace evershard::bench
