#include "evershard/actors/kit/process_kit.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <random>
#include <utility>

#include "evershard/actors/process/process_driver.hpp"
#include "evershard/actors/timers/timer_firing.hpp"

namespace evershard {
namespace {

using actors::ProcessActions;
using actors::ProcessDriver;
using actors::TimerFiring;

constexpr std::chrono::hours after_all{1};
constexpr actors::PaceOptions at_once{.overdue_per_second = 1'000'000'000};  ///< while time stands still
constexpr std::chrono::hours pass_most{1};
constexpr std::chrono::microseconds pass_least = std::chrono::milliseconds(1);

}  // namespace

struct ProcessKit::Impl {
  struct Process {
    std::shared_ptr<const ProcessDefinition> definition;
    ProcessOptions options;
    Effects effects;
    ProcessCheckpoint checkpoint;  ///< as it was kept: survives
    std::optional<ProcessDriver> driver;
  };

  explicit Impl(std::uint64_t seed) : kit({.seed = seed, .any_order = true}), random(seed) {}

  [[nodiscard]] ProcessDriver::Time steady() const {
    return ProcessDriver::Time(std::chrono::microseconds(kit.now().micros));
  }

  void take_over(Process& process) {
    const auto taken = kit.append_from_outside(ProcessDriver::taking_over(*process.definition));
    process.driver.emplace(process.definition, process.checkpoint, taken ? taken->last_position : GlobalPosition{0},
                           process.options, process.effects.bounds());
    if (auto retiring = ProcessDriver::retiring_others(*process.definition, process.options))
      if (const auto retired = kit.append_from_outside(*std::move(retiring)))
        process.driver->begin_behind(retired->last_position);
    // As in production: the orders of operators are known before any command or effect begins.
    for (const auto& event : kit.events()) control(process, event);
    begin_replays(process);
  }

  void control(Process& process, const RecordedEvent& event) {
    if (event.aggregate != ProcessDriver::log_of(*process.definition)) return;
    ProcessActions actions;
    process.driver->control(event, steady(), actions);
    perform(static_cast<std::size_t>(&process - processes.data()), std::move(actions));
  }

  void begin_replays(Process& process) {
    const auto events = kit.events();
    for (const auto& replay : process.driver->replays_to_begin()) {
      ProcessActions actions;
      process.driver->replay(replay, events.at(replay.effect.position.value - 1), steady(), actions);
      perform(static_cast<std::size_t>(&process - processes.data()), std::move(actions));
    }
  }

  void perform(std::size_t process, ProcessActions actions) {
    for (auto& ask : actions.asks)
      kit.ask_bytes(ask.aggregate, std::move(ask.type), std::move(ask.bytes),
                    {.command_id = std::move(ask.command_id), .fail_if = std::move(ask.fail_if), .chain = ask.chain},
                    [this, process, life = life, number = ask.number](const AnyAnswer& answer) {
                      if (life != this->life) return;
                      ProcessActions next;
                      processes[process].driver->answered(number, answer, steady(), next);
                      perform(process, std::move(next));
                    });
    for (const auto& one : actions.performs)
      processes[process].effects.perform(
          one.effect.type, one.effect.payload, one.attempt,
          [this, process, life = life, number = one.number](const Result<std::string>& answer) {
            if (life != this->life) return;
            ProcessActions next;
            processes[process].driver->performed(number, answer, steady(), next);
            perform(process, std::move(next));
          });
  }

  bool hand_on() {
    const auto events = kit.events();
    if (events.size() == handed_on) return false;
    const auto& event = events[handed_on++];
    if (TimerFiring::query().matches(event)) static_cast<void>(firing->event(event));
    for (std::size_t n = 0; n != processes.size(); ++n) {
      auto& process = processes[n];
      const bool matches = ProcessDriver::query(*process.definition).matches(event);
      ProcessActions actions;
      process.driver->events(matches ? std::vector{event} : std::vector<RecordedEvent>{}, event.position, steady(),
                             actions);
      perform(n, std::move(actions));
      control(process, event);
      begin_replays(process);
    }
    return true;
  }

  /// Processes that begin where their former versions end.
  bool look_at_others() {
    bool some = false;
    for (std::size_t n = 0; n != processes.size(); ++n) {
      auto& process = processes[n];
      if (!process.driver->waits_for_others()) continue;
      std::optional<GlobalPosition> all;
      for (const auto& other : process.options.beside) {
        const auto found = std::ranges::find(processes, other, [](const Process& p) { return p.definition->type; });
        const auto at = found == processes.end() ? GlobalPosition{0} : found->driver->checkpoint().position;
        all = all ? std::min(*all, at) : at;
      }
      ProcessActions actions;
      process.driver->others_are_at(all.value_or(GlobalPosition{0}), steady(), actions);
      perform(n, std::move(actions));
      some = some || !process.driver->waits_for_others();
    }
    return some;
  }

  // As in production: once all is known that was set and cancelled before.
  bool fire() {
    if (kit.events().size() != handed_on) return false;
    const auto due = firing->queue().take(kit.now());
    const auto events = kit.events();
    for (const auto& timer : due) {
      auto fire = firing->fire(timer, events.at(timer.set_at.value - 1), kit.now());
      if (!fire) continue;
      kit.ask_bytes(fire->aggregate, std::string(fire_timer_type), std::move(fire->command),
                    {.command_id = std::move(fire->command_id)}, [this, timer, life = life](const AnyAnswer& answer) {
                      if (life == this->life) firing->answered(timer, answer, kit.now());
                    });
    }
    return !due.empty();
  }

  bool try_again() {
    bool some = look_at_others();
    for (std::size_t n = 0; n != processes.size(); ++n) {
      if (processes[n].driver->wake_at() > steady()) continue;
      ProcessActions actions;
      processes[n].driver->timer(steady(), actions);
      perform(n, std::move(actions));
      some = true;
    }
    return some;
  }

  /// Until a timer is due, or something is to be tried again.
  [[nodiscard]] std::chrono::microseconds until_next() {
    auto next = kit.now().micros + std::chrono::microseconds(pass_most).count();
    if (const auto due = firing->queue().next(kit.now())) next = std::min(next, due->micros);
    for (const auto& process : processes)
      if (const auto at = process.driver->wake_at(); at != ProcessDriver::never)
        next =
            std::min<std::int64_t>(next, std::chrono::ceil<std::chrono::microseconds>(at.time_since_epoch()).count());
    return std::max(std::chrono::microseconds(next - kit.now().micros), pass_least);
  }

  void keep_checkpoints() {
    for (auto& process : processes)
      if (random() % 8 == 0) process.checkpoint = process.driver->checkpoint();
  }

  ActorKit kit;
  std::mt19937_64 random;
  std::unique_ptr<TimerFiring> firing = std::make_unique<TimerFiring>(at_once);
  std::vector<Process> processes;
  std::size_t handed_on = 0;  ///< of the journal's events
  std::size_t steps = 0;
  int life = 0;
};

ProcessKit::ProcessKit(std::uint64_t seed) : impl_(std::make_unique<Impl>(seed)) {}
ProcessKit::~ProcessKit() = default;

bool ProcessKit::step() {
  ++impl_->steps;
  impl_->keep_checkpoints();
  std::array<int, 4> order{0, 1, 2, 3};
  std::ranges::shuffle(order, impl_->random);
  for (const auto what : order) {
    const bool did = what == 0   ? impl_->kit.steps(1) != 0
                     : what == 1 ? impl_->hand_on()
                     : what == 2 ? impl_->fire()
                                 : impl_->try_again();
    if (did) return true;
  }
  return false;
}

void ProcessKit::settle() {
  while (step()) {
  }
}

void ProcessKit::pass(std::chrono::microseconds time) {
  settle();
  while (time.count() > 0) {
    const auto step = std::min(time, impl_->until_next());
    impl_->kit.advance(step);
    time -= step;
    settle();
  }
}

void ProcessKit::crash() {
  auto& impl = *impl_;
  impl.kit.crash();
  ++impl.life;
  impl.kit.restart();
  impl.firing = std::make_unique<TimerFiring>(at_once);
  impl.handed_on = 0;
  for (auto& process : impl.processes) impl.take_over(process);
}

void ProcessKit::control(std::string_view process, const ProcessControl& control) {
  static_cast<void>(impl_->kit.append_from_outside(Append{}.event(controlling(process, control))));
}

std::size_t ProcessKit::steps() const { return impl_->steps; }
ActorKit& ProcessKit::actors() { return impl_->kit; }
std::vector<RecordedEvent> ProcessKit::events() const { return impl_->kit.events(); }

Result<void> ProcessKit::host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) {
  return impl_->kit.host_kind(std::move(kind), options);
}
Asking ProcessKit::ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command,
                             AskOptions options, AnswerDone done) {
  return impl_->kit.ask_bytes(aggregate, std::move(command_type), std::move(command), std::move(options),
                              std::move(done));
}
AnyAnswer ProcessKit::ask_and_wait(const AggregateId& aggregate, std::string command_type, std::string command,
                                   AskOptions options) {
  return impl_->kit.ask_and_wait(aggregate, std::move(command_type), std::move(command), std::move(options));
}
Result<StateBytes> ProcessKit::state_bytes(const AggregateId& aggregate, StateRead how,
                                           std::chrono::milliseconds timeout) {
  return impl_->kit.state_bytes(aggregate, how, timeout);
}
Result<StateBytes> ProcessKit::state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) {
  return impl_->kit.state_bytes_at(aggregate, up_to);
}
Result<void> ProcessKit::take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) {
  return impl_->kit.take_snapshot(aggregate, timeout);
}
void ProcessKit::passivate(const AggregateId& aggregate) { impl_->kit.passivate(aggregate); }

Result<void> ProcessKit::run_process(std::shared_ptr<const ProcessDefinition> process, ProcessOptions options,
                                     Effects effects) {
  EVERSHARD_TRY(ProcessDriver::check(*process, options, effects));
  EVERSHARD_TRY(host_kind(process->kind, {}));
  auto& added = impl_->processes.emplace_back(Impl::Process{std::move(process), options, std::move(effects), {}, {}});
  impl_->take_over(added);
  return {};
}

std::vector<ProcessStatus> ProcessKit::process_status() const {
  std::vector<ProcessStatus> status;
  for (const auto& process : impl_->processes) status.push_back(process.driver->status());
  return status;
}

std::size_t for_every_crash(const std::function<void(ProcessKit&)>& begin,
                            const std::function<void(ProcessKit&)>& check, std::uint64_t seed) {
  for (std::size_t point = 0;; ++point) {
    ProcessKit kit(seed);
    begin(kit);
    const auto first = kit.steps();
    bool more = true;
    while (more && kit.steps() - first < point) more = kit.step();
    if (more) kit.crash();
    kit.settle();
    kit.pass(after_all);
    check(kit);
    if (!more) return point;
  }
}

}  // namespace evershard
