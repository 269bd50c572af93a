// evershard-sim: the simulated cluster, for as long as one likes.
//
//   evershard-sim [--seed N] [--steps N] [--minutes N] [--nodes N] [--shards N] [--replicas N] [--real] [--links]
//   [--changing-sets] [--row-logs] [--aggregates] [--processes] [--trace] [--off RULE]

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "tests/simulation/simulation.hpp"

namespace {

using evershard::simulation::Mutant;
using evershard::simulation::mutants;
using evershard::simulation::Off;
using evershard::simulation::Simulation;
using evershard::simulation::SimulationOptions;

constexpr std::size_t lines_shown = 60;

struct Arguments {
  SimulationOptions options;
  std::uint64_t minutes = 0;
  bool trace = false;
};

int usage(const char* why) {
  std::fprintf(
      stderr,
      "%s\nusage: evershard-sim [--seed N] [--steps N] [--minutes N] [--nodes N] [--shards N] [--real] "
      "[--links] [--replicas N] [--changing-sets] [--row-logs] [--aggregates] [--processes] [--trace] [--off RULE]\n",
      why);
  return 2;
}

bool number(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Arguments> read(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--trace") {
      arguments.trace = true;
      continue;
    }
    if (name == "--row-logs") {
      arguments.options.row_logs = true;
      continue;
    }
    if (name == "--changing-sets") {
      arguments.options.changing_sets = true;
      continue;
    }
    if (name == "--real" || name == "--links" || name == "--aggregates" || name == "--processes") {
      arguments.options.real_writers = true;
      arguments.options.processes |= name == "--processes";
      arguments.options.aggregates |= name == "--aggregates";
      arguments.options.links |= name == "--links";
      continue;
    }
    if (++i == argc) return std::nullopt;
    if (name == "--off") {
      const auto mutant = std::ranges::find(mutants, argv[i], &Mutant::name);
      if (mutant == mutants.end()) return std::nullopt;
      arguments.options.off = mutant->off;
      arguments.options.real_writers |= mutant->real_writers;
      arguments.options.links |= mutant->links;
      arguments.options.aggregates |= mutant->aggregates;
      arguments.options.processes |= mutant->processes;
      arguments.options.replicas = std::max(arguments.options.replicas, mutant->replicas);
      arguments.options.changing_sets |= mutant->changing_sets;
      arguments.options.row_logs |= mutant->row_logs;
      continue;
    }
    std::uint64_t value = 0;
    if (!number(argv[i], value)) return std::nullopt;
    if (name == "--seed") {
      arguments.options.seed = value;
    } else if (name == "--steps") {
      arguments.options.steps = value;
    } else if (name == "--minutes") {
      arguments.minutes = value;
    } else if (name == "--nodes" && value >= 1 && value <= 100) {
      arguments.options.nodes = static_cast<std::uint32_t>(value);
    } else if (name == "--replicas" && value >= 1 && value <= 100) {
      arguments.options.replicas = static_cast<std::uint32_t>(value);
      arguments.options.real_writers |= value > 1;
    } else if (name == "--shards" && value >= 1 && value <= 1'000) {
      arguments.options.shards = static_cast<std::uint32_t>(value);
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  auto arguments = read(argc, argv);
  if (!arguments) return usage("what is asked for?");
  if (arguments->trace) {
    arguments->options.tell = [](const std::string& line) { std::puts(line.c_str()); };
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(arguments->minutes);
  std::uint64_t runs = 0;
  do {
    const auto outcome = Simulation(arguments->options).run();
    ++runs;
    if (!outcome.invariant.empty()) {
      if (!arguments->trace) {
        const auto from = outcome.trace.size() - std::min(outcome.trace.size(), lines_shown);
        for (std::size_t i = from; i != outcome.trace.size(); ++i) std::puts(outcome.trace[i].c_str());
      }
      std::printf(
          "broken with --seed %ju --steps %ju --nodes %u --shards %u --replicas %u%s%s%s%s, after %ju steps: %s\n",
          static_cast<std::uintmax_t>(arguments->options.seed), static_cast<std::uintmax_t>(arguments->options.steps),
          arguments->options.nodes, arguments->options.shards, arguments->options.replicas,
          arguments->options.links          ? " --links"
          : arguments->options.real_writers ? " --real"
                                            : "",
          arguments->options.aggregates      ? " --aggregates"
          : arguments->options.changing_sets ? " --changing-sets"
                                             : "",
          arguments->options.row_logs ? " --row-logs" : "", arguments->options.processes ? " --processes" : "",
          static_cast<std::uintmax_t>(outcome.steps), outcome.what.c_str());
      return 1;
    }
    std::printf(
        "seed %ju: %zu cuts, %zu events placed, %zu acknowledged, %zu reads, %zu crashes, %zu coordinators, %zu disk "
        "faults, %zu losses: every invariant held\n",
        static_cast<std::uintmax_t>(arguments->options.seed), outcome.cuts, outcome.placed, outcome.acknowledged,
        outcome.reads, outcome.crashes, outcome.leaders, outcome.disk_faults, outcome.losses);
    if (arguments->options.replicas > 1)
      std::printf(
          "  %zu records shipped, %zu read for who is behind, %zu times followed, %zu records taken off, %zu disks "
          "filled, %zu times learned\n",
          outcome.shipped, outcome.read_behind, outcome.follows, outcome.taken_off, outcome.filled, outcome.learned);
    if (arguments->options.row_logs)
      std::printf("  %zu states kept, %zu of them answered, %zu times asked for row logs, %zu times late\n",
                  outcome.settled, outcome.settled_answered, outcome.rows_asked, outcome.rows_asked_late);
    if (arguments->options.aggregates)
      std::printf("  %zu snapshots, %zu loads, %zu of them from a snapshot, %zu refused over a loss\n",
                  outcome.snapshots, outcome.loads, outcome.loads_from_snapshots, outcome.loads_refused);
    if (arguments->options.processes)
      std::printf(
          "  %zu timers fired, %zu of them by calendar, %zu overtaken, %zu scheduled appends made, %zu cancelled, %zu "
          "payments, %zu refused, "
          "%zu "
          "taken back, %zu effects performed, the process was taken over %zu times\n",
          outcome.fired, outcome.by_calendar, outcome.overtaken, outcome.made, outcome.cancelled, outcome.payments,
          outcome.refused_payments, outcome.taken_back, outcome.performed, outcome.taken_over);
    if (arguments->options.links) {
      const auto& letters = outcome.letters;
      std::printf(
          "  %zu sessions, %zu refused, %zu processes gone silently, %zu letters handled, %zu outcomes unknown, %zu "
          "not sent, %zu waits for credit, %zu clocks\n",
          letters.sessions, letters.refused, letters.silent, letters.handled, letters.unknown, letters.not_sent,
          letters.waited, outcome.clocks);
    }
    ++arguments->options.seed;
  } while (std::chrono::steady_clock::now() < until);
  std::printf("%ju runs\n", static_cast<std::uintmax_t>(runs));
  return 0;
}
