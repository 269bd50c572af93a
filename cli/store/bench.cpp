// `evershard bench`: every figure next to its ceiling, from one run on this machine.

#include "evershard/bench/run.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/interrupt.hpp"

namespace evershard::cli {
namespace {

std::string names_of_parts() {
  std::string text;
  for (const auto& part : bench::parts()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

Options bench_options() {
  const bench::BenchOptions defaults;
  static const std::string only = "one part: " + names_of_parts() + "; else all";
  Options options;
  options.value("data", "DIR",
                "where it makes a directory for its stores, removed afterwards; without it, where temporary files lie");
  options.value("only", "PART", only.c_str()).one_of(bench::parts());
  options.duration("seconds", "how long each workload of appends runs in a round",
                   {BareNumber::seconds, std::chrono::seconds(1), std::chrono::hours(24)},
                   std::chrono::milliseconds(static_cast<std::int64_t>(defaults.seconds * 1'000)));
  options.number("rounds", "N", "how many rounds are measured", defaults.rounds);
  options.number("events", "N", "how many events the store has that is read", defaults.events);
  options.number("open-events", "N", "how many events the store has that is opened", defaults.open_events);
  options.number("seed", "N", "the seed of the workloads", defaults.seed);
  return options;
}

Outcome run_bench(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  bench::BenchOptions options;
  if (const auto data = arguments.text("data")) options.directory = *data;
  options.only = arguments.text("only").value_or("");
  options.seconds = std::chrono::duration<double>(*arguments.duration("seconds")).count();
  options.rounds = arguments.number_at_least("rounds", 1);
  options.events = arguments.number_at_least("events", 1'000);
  options.open_events = arguments.number_at_least("open-events", 1'000);
  options.seed = *arguments.number("seed");
  options.style = invocation.for_people()             ? bench::BenchOptions::Style::text
                  : invocation.format == Format::json ? bench::BenchOptions::Style::json
                                                      : bench::BenchOptions::Style::json_lines;
  options.stop = interrupted;
  auto done = bench::run(options, [&](const std::string& line) {
    invocation.out.write(line + '\n');
    invocation.out.flush();
  });
  if (!done) return Failed(Failure(std::move(done).error()));
  return {};
}

}  // namespace

Command bench_command() {
  return {"bench",
          "store",
          "Measures this machine. Each figure stands beside its ceiling.",
          "evershard bench --only append",
          bench_options,
          run_bench};
}

}  // namespace evershard::cli
