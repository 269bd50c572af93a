// The command line with an application's own aggregates in it, as a program of its own:
//
//     #include <evershard/command_line.hpp>
//     int main(int argc, char** argv) { return evershard::command_line<BankAccount, Order>(argc, argv); }
//
// It is `evershard` with every command. `aggregate state` gives the exact state of any version, since the program's own
// `apply` and `upcast` make it, and payloads are read by the program's own types; nothing needs to be registered.
// `serve` and `node` host the aggregates, and clients in any language ask them commands.

#pragma once

#include <memory>
#include <vector>

#include "evershard/actors/model/typed_kind.hpp"

namespace evershard {

/// A kind of aggregate, or why it is none.
using CommandLineKind = Result<std::shared_ptr<const AggregateKind>>;

/// Writes to standard output and standard error. Returns: the exit status, as docs/command-line.md lists them; 5 for
/// aggregates that no store would host.
[[nodiscard]] int run_command_line(int argc, char** argv, const std::vector<CommandLineKind>& kinds);

/// Of any number of kinds; of none it is `evershard` itself.
template <class... Aggregates>
[[nodiscard]] int command_line(int argc, char** argv) {
  return run_command_line(argc, argv, {make_kind<Aggregates>()...});
}

}  // namespace evershard
