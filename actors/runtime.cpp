#include "runtime.hpp"

#include "evershard/actors/shard/intake.hpp"
#include "evershard/actors/shard/reader.hpp"

namespace evershard::actors {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits for the actor's end. An exit message does not overtake queued ones, so the grace covers what is queued.
bool wait_for_end(caf::scoped_actor& self, const caf::actor_addr& address, std::chrono::milliseconds grace) {
  bool down = false;
  for (const auto until = Clock::now() + grace; !down && Clock::now() < until;)
    self->receive([&](const caf::down_msg& message) { down = message.source == address; },
                  caf::after(std::chrono::milliseconds(20)) >> [] {});
  return down;
}

bool end(caf::scoped_actor& self, const caf::actor& actor, std::chrono::milliseconds grace) {
  self->monitor(actor);
  self->send_exit(actor, caf::exit_reason::user_shutdown);
  if (wait_for_end(self, actor.address(), grace)) return true;
  self->send_exit(actor, caf::exit_reason::kill);
  return wait_for_end(self, actor.address(), grace);
}

}  // namespace

Runtime::Runtime(Committer& committer, const storage::Store& store, RuntimeOptions options) {
  // By default an idle worker sleeps up to 10 ms before it looks again, and a busy actor is never interrupted.
  config_.set("scheduler.max-threads", options.threads);
  config_.set("scheduler.max-throughput", std::size_t{300});
  config_.set("work-stealing.moderate-poll-attempts", std::size_t{1});
  config_.set("work-stealing.moderate-sleep-duration", caf::timespan{std::chrono::microseconds(10)});
  config_.set("work-stealing.relaxed-sleep-duration", caf::timespan{std::chrono::microseconds(200)});
  system_ = std::make_unique<caf::actor_system>(config_);
  intake_ = spawn_intake(*system_, committer);
  for (std::size_t i = 0; i < options.readers; ++i) readers_.push_back(spawn_reader(*system_, store));
}

Runtime::~Runtime() { stop(); }

const messages::ReaderActor& Runtime::reader() { return readers_[next_reader_++ % readers_.size()]; }

bool Runtime::stop(std::chrono::milliseconds grace) {
  if (stopped_) return all_down_;
  stopped_ = true;
  {
    caf::scoped_actor self(*system_, true);
    all_down_ = end(self, caf::actor_cast<caf::actor>(intake_), grace);
    for (const auto& reader : readers_) all_down_ &= end(self, caf::actor_cast<caf::actor>(reader), grace);
  }
  intake_ = nullptr;
  readers_.clear();
  // The actor system's destructor waits for every actor that is still referenced: it must not be run over one that would not die.
  if (all_down_) system_.reset();
  else static_cast<void>(system_.release());
  return all_down_;
}

}  // namespace evershard::actors
