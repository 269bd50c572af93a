// The command line with an application's own aggregates and processes in it, as a program of its own:
//
//     #include <evershard/command_line.hpp>
//     int main(int argc, char** argv) { return evershard::command_line<BankAccount, Order>(argc, argv); }
//
// or, where processes react to what happens:
//
//     int main(int argc, char** argv) {
//       return evershard::CommandLine{}.host<Flight, Hotel>().run<Trips>().main(argc, argv);
//     }
//
// It is `evershard` with every command. `aggregate state` gives the exact state of any version, since the program's own
// `apply` and `upcast` make it, and payloads are read by the program's own types; nothing needs to be registered.
// `serve` and `node` host the aggregates and run the processes, and clients in any language ask commands.

#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/actors/model/typed_kind.hpp"
#include "evershard/actors/process/effects.hpp"
#include "evershard/actors/process/process_definition.hpp"
#include "evershard/actors/process/process_door.hpp"

namespace evershard {

/// A kind of aggregate, or why it is none, and what it is hosted with.
struct CommandLineKind {
  Result<std::shared_ptr<const AggregateKind>> kind;
  std::function<HostOptions()> options{};  ///< asked once, by `serve` and `node` alone; null: the defaults
};

/// A process, or why it is none, and what it is run with.
struct CommandLineProcess {
  Result<std::shared_ptr<const ProcessDefinition>> definition;
  ProcessOptions options{};
  std::function<Effects()> effects{};  ///< asked once, by `serve` and `node` alone, before anything runs; null: none
};

/// Writes to standard output and standard error. Returns: the exit status, as docs/command-line.md lists them; 5 for
/// aggregates that no store would host, and processes that none would run.
[[nodiscard]] int run_command_line(int argc, char** argv, const std::vector<CommandLineKind>& kinds,
                                   const std::vector<CommandLineProcess>& processes = {});

/// Of any number of kinds; of none it is `evershard` itself.
template <class... Aggregates>
[[nodiscard]] int command_line(int argc, char** argv) {
  return run_command_line(argc, argv, {CommandLineKind{make_kind<Aggregates>(), {}}...});
}

/// What the program hosts, one call after the other. Objects that handlers of effects use must outlive main().
class CommandLine {
 public:
  template <class... Aggregates>
  [[nodiscard]] CommandLine&& host() && {
    (kinds_.push_back({make_kind<Aggregates>(), {}}), ...);
    return std::move(*this);
  }
  /// `options`: makes those of the kind, where it is hosted: with a handler for each question of its commands.
  template <class A>
  [[nodiscard]] CommandLine&& host(std::function<HostOptions()> options) && {
    kinds_.push_back({make_kind<A>(), std::move(options)});
    return std::move(*this);
  }
  /// `effects`: makes the handlers of the process's Effects, where it is run; what they need may be made there too.
  template <class P>
  [[nodiscard]] CommandLine&& run(ProcessOptions options = {}, std::function<Effects()> effects = {}) && {
    processes_.push_back({make_process<P>(), options, std::move(effects)});
    return std::move(*this);
  }
  template <class P>
  [[nodiscard]] CommandLine&& run(std::function<Effects()> effects) && {
    return std::move(*this).template run<P>(ProcessOptions{}, std::move(effects));
  }
  /// Returns: as run_command_line.
  [[nodiscard]] int main(int argc, char** argv) && { return run_command_line(argc, argv, kinds_, processes_); }

 private:
  std::vector<CommandLineKind> kinds_;
  std::vector<CommandLineProcess> processes_;
};

}  // namespace evershard
