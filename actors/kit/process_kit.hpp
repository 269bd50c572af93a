// ProcessKit: aggregates, their timers and processes, in one thread, with a clock that stands still until it is told,
// and a program that crashes between any two steps.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/actors/kit/actor_kit.hpp"
#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/actors/process/process_door.hpp"
#include "evershard/protocol/processes.hpp"

namespace evershard {

/// What runs in production, but for threads, clock and disk:
///
///     ProcessKit kit;
///     kit.host<Account>(), kit.run<Transfers>();
///     kit.get<Account>("ann").ask(open(100));
///     kit.settle();            // everything that follows from it
///     kit.pass(15min);         // and what is due meanwhile
///
/// What it does next is drawn by the seed. ask() and state() wait, as those of an ActorKit: aggregates go on meanwhile,
/// timers and processes do not.
/// Owner:  one thread.
class ProcessKit : public AggregateDoor, public ProcessDoor {
 public:
  explicit ProcessKit(std::uint64_t seed = 1);
  ~ProcessKit() override;

  /// One thing: an actor's, an event that is handed on, a timer that is sent. Returns: false: there is nothing to do
  bool step();
  /// Does all the work that there is now.
  void settle();
  /// Time passes, with everything that comes due meanwhile.
  void pass(std::chrono::microseconds time);
  /// The program is gone and comes back, with the same kinds and processes: what was written is there, and nothing
  /// else.
  void crash();
  /// What an operator asks of a process: `process stop` and so on.
  void control(std::string_view process, const ProcessControl& control);
  /// Of the process, since it came back.
  [[nodiscard]] std::size_t steps() const;

  [[nodiscard]] ActorKit& actors();
  [[nodiscard]] std::vector<RecordedEvent> events() const;

  [[nodiscard]] Result<void> host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) override;
  Asking ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command, AskOptions options,
                   AnswerDone done) override;
  [[nodiscard]] AnyAnswer ask_and_wait(const AggregateId& aggregate, std::string command_type, std::string command,
                                       AskOptions options) override;
  [[nodiscard]] Result<StateBytes> state_bytes(const AggregateId& aggregate, StateRead how,
                                               std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<StateBytes> state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) override;
  [[nodiscard]] Result<void> take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) override;
  void passivate(const AggregateId& aggregate) override;
  [[nodiscard]] Result<void> run_process(std::shared_ptr<const ProcessDefinition> process, ProcessOptions options,
                                         Effects effects) override;
  [[nodiscard]] std::vector<ProcessStatus> process_status() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// `play` is played again and again, each time with a crash behind one more step, until it ends before that; then
/// everything is settled, an hour passes, and `check` looks at what came of it. So a property that holds for every
/// point is one line of test. Returns: how many points there were
///
///     for_every_crash([](ProcessKit& kit) { ... }, [](ProcessKit& kit) { EXPECT_EQ(sum(kit), 100); });
std::size_t for_every_crash(const std::function<void(ProcessKit&)>& begin,
                            const std::function<void(ProcessKit&)>& check, std::uint64_t seed = 1);

}  // namespace evershard
