// ProcessDoor: where processes are run: the store in this process, or a node of a cluster.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "evershard/actors/process/effects.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/processes.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

struct ProcessDefinition;
// What this template is made of comes with <evershard/process.hpp>.
template <class P>
[[nodiscard]] Result<std::shared_ptr<const ProcessDefinition>> make_process();

struct ProcessOptions {
  std::size_t waiting_max = 10'000;              ///< events and commands under way, and ten times as many that are to
                                                 ///< be tried again, or are stopped; beyond them no more are read
  std::size_t waiting_bytes_max = 64u << 20;     ///< of these together
  std::chrono::milliseconds retry_first{100};    ///< of what fails: then ever longer
  std::chrono::milliseconds retry_most{30'000};  ///< at most
  std::chrono::milliseconds checkpoint_every{1'000};
  /// So many reactions of processes may follow from each other. What goes on longer is taken for instances that command
  /// each other in a circle: the instance fails. 0: any number
  std::uint32_t chain_max = 1'000;
  /// Former versions of it, by their types: they keep the instances that they have, and react to nothing that would
  /// begin another one. This one reacts to the events behind the one with which it first ran, and has all other
  /// instances. Run them too, as long as they have instances.
  std::vector<std::string> beside{};
};

struct ProcessStatus {
  std::string type;
  bool runs_here = false;                  ///< of a cluster: another node runs it
  GlobalPosition position;                 ///< events up to it are reacted to, their commands and effects done
  GlobalPosition read_to;                  ///< so far it has read
  std::uint64_t waiting = 0;               ///< events and commands under way
  std::uint64_t reacted = 0;               ///< events that instances were told, since it runs here
  std::uint64_t sent = 0;                  ///< commands that were answered
  std::uint64_t rejected = 0;              ///< of these
  std::uint64_t performed = 0;             ///< effects
  std::uint64_t given_up = 0;              ///< effects
  std::uint64_t failed = 0;                ///< tries
  std::uint64_t failing = 0;               ///< of what waits: to be tried again
  bool stopped = false;                    ///< somebody stopped it
  GlobalPosition retired_at{};             ///< a later version has the instances that begin behind it; 0: none has
  std::string trouble;                     ///< of what was tried last; empty: none
  std::vector<ProcessFailing> failures{};  ///< what is to be tried again: at most process_failures_max of it
};

/// Any thread. Nothing throws.
class ProcessDoor {
 public:
  virtual ~ProcessDoor() = default;

  /// Hosts the process's instances, and has them react from here on: to every event from the first one on, where it
  /// never ran before. Once, and behind the kinds that its commands go to.
  /// `effects`: a handler for each of its Effects.
  /// Errors: invalid_argument: its rules are broken, its type is hosted already, an effect has no handler; unavailable:
  /// closed
  template <class P>
  [[nodiscard]] Result<void> run(ProcessOptions options = {}, Effects effects = {}) {
    auto process = make_process<P>();
    if (!process) return tl::unexpected(std::move(process).error());
    return run_process(std::move(*process), options, std::move(effects));
  }
  template <class P>
  [[nodiscard]] Result<void> run(Effects effects) {
    return run<P>(ProcessOptions{}, std::move(effects));
  }
  [[nodiscard]] virtual Result<void> run_process(std::shared_ptr<const ProcessDefinition> process,
                                                 ProcessOptions options, Effects effects) = 0;
  /// Of those that this program runs, or would run where it has their home.
  [[nodiscard]] virtual std::vector<ProcessStatus> process_status() const = 0;
};

}  // namespace evershard
