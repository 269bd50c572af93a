#include "evershard/actors/aggregate/actor_system.hpp"

#include <caf/scheduler/test_coordinator.hpp>

namespace evershard::actors {
namespace {

using Clock = std::chrono::steady_clock;

caf::scheduler::test_coordinator& coordinator(caf::actor_system& system) {
  return dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
}

/// An exit message does not overtake queued ones, so the grace covers what is queued.
bool wait_for_end(caf::scoped_actor& self, const caf::actor_addr& address, std::chrono::milliseconds grace) {
  bool down = false;
  for (const auto until = Clock::now() + grace; !down && Clock::now() < until;) {
    self->receive([&](const caf::down_msg& message) { down = message.source == address; },
                  caf::after(std::chrono::milliseconds(20)) >> [] {});
  }
  return down;
}

struct LetsGo {
  ~LetsGo() { let_go_of_it(); }
};

}  // namespace

void let_go_of_it() { caf::logger::set_current_actor_system(nullptr); }

ActorSystem::ActorSystem(Scheduling scheduling) : scheduling_(scheduling) {
  if (scheduling == Scheduling::deterministic) {
    config_.set("scheduler.policy", caf::atom("testing"));
  } else {
    // Our actors have threads of their own: the pool's one worker has nothing to do, and looks seldom whether it has.
    config_.set("scheduler.max-threads", std::size_t{1});
    config_.set("work-stealing.aggressive-poll-attempts", std::size_t{1});
    config_.set("work-stealing.moderate-poll-attempts", std::size_t{1});
    config_.set("work-stealing.relaxed-sleep-duration", caf::timespan{std::chrono::milliseconds(50)});
  }
  system_ = std::make_unique<caf::actor_system>(config_);
  let_go_of_it();
}

// CAF's destructor waits for every actor that is still referenced: it must not be run over one that would not die.
ActorSystem::~ActorSystem() {
  // Actors that do not end must not outlive what they use: it stays for the rest of the process.
  if (!all_down_) static_cast<void>(system_.release());
}

bool ActorSystem::end(const std::vector<caf::actor>& actors, std::chrono::milliseconds grace) {
  if (scheduling_ == Scheduling::deterministic) {
    for (const auto& actor : actors) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    while (step()) {
    }
    return true;
  }
  const LetsGo at_the_end;
  caf::scoped_actor self(*system_, true);
  for (const auto& actor : actors) {
    self->monitor(actor);
    self->send_exit(actor, caf::exit_reason::user_shutdown);
    if (wait_for_end(self, actor.address(), grace)) continue;
    self->send_exit(actor, caf::exit_reason::kill);
    all_down_ &= wait_for_end(self, actor.address(), grace);
  }
  return all_down_;
}

bool ActorSystem::step() { return coordinator(*system_).try_run_once(); }

// From one timer to the next: what a timer sets off may set the next one before `until`.
bool ActorSystem::pass(Clock::time_point until) {
  auto& clock = coordinator(*system_).clock();
  const bool due = clock.has_pending_timeout() && clock.schedule().begin()->first <= until;
  const auto at = due ? clock.schedule().begin()->first : until;
  clock.advance_time(std::max(at - clock.now(), Clock::duration::zero()));
  return due;
}

}  // namespace evershard::actors
