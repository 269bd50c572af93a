#include "evershard/actors/kit/actor_kit.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "evershard/actors/kit/kit_journal.hpp"
#include "evershard/protocol/check.hpp"

namespace evershard {

using actors::AggregateHost;
using actors::KitJournal;

namespace {

/// Virtual time has to begin somewhere, the same in every run.
constexpr Timestamp begin{1'700'000'000'000'000};

Error gone() { return {ErrorCode::unavailable, "the process is gone: restart() begins another"}; }

}  // namespace

struct ActorKit::Impl {
  /// One life of the process. What it would tell after its end is not told, and who waits is kept, so that he goes on
  /// waiting.
  struct Life {
    bool ended = false;
    std::vector<AnswerDone> waiting;
  };
  struct Hosted {
    std::shared_ptr<const AggregateKind> kind;
    HostOptions options;
  };

  explicit Impl(ActorKitOptions o)
      : options(o), journal({o.limits, true, o.any_order, o.seed, [this] { return now(); }}) {
    start();
  }

  [[nodiscard]] Timestamp now() const {
    const auto elapsed = before + (host ? host->elapsed() : std::chrono::nanoseconds(0));
    return {begin.micros + std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count()};
  }

  void start() {
    actors::AggregateHostOptions of_host;
    of_host.live_max = options.live_limit;
    of_host.idle_after = options.idle_after;
    of_host.recovery_permits = options.recovery_permits;
    of_host.limits = options.limits;
    of_host.deterministic = true;
    // Names of writers are never used twice over one history.
    of_host.seed = options.seed + 0x9E3779B97F4A7C15ull * lives.size();
    of_host.any_order = options.any_order;
    of_host.journal_step = [this] { return journal.step(); };
    lives.push_back(std::make_shared<Life>());
    journal.connect();
    host = std::make_unique<AggregateHost>(journal, options.shards, of_host);
  }

  void end() {
    if (!host) return;
    before += host->elapsed();
    host.reset();
  }

  void crash() {
    if (!host) return;
    lives.back()->ended = true;
    journal.disconnect();
    end();
  }

  const ActorKitOptions options;
  std::chrono::nanoseconds before{0};        ///< of earlier lives
  std::vector<std::shared_ptr<Life>> lives;  ///< all: nobody who waits is told that it ended
  std::vector<Hosted> kinds;
  KitJournal journal;
  std::unique_ptr<AggregateHost> host;  ///< null: between two lives
};

ActorKit::ActorKit(ActorKitOptions options) : impl_(std::make_unique<Impl>(options)) {}

ActorKit::~ActorKit() = default;

// -- time and work

bool ActorKit::run() { return impl_->host && impl_->host->run(); }

std::size_t ActorKit::steps(std::size_t count) {
  std::size_t done = 0;
  while (done < count && impl_->host && impl_->host->step()) ++done;
  return done;
}

void ActorKit::advance(std::chrono::nanoseconds time) {
  if (impl_->host) {
    impl_->host->advance(time);
  } else {
    impl_->before += time;
  }
}

// -- the journal

void ActorKit::fail_next_append(Fault fault, ErrorCode code) { impl_->journal.fail_next_append(fault, code); }
void ActorKit::fail_next(JournalCall call, ErrorCode code) { impl_->journal.fail_next(call, code); }
void ActorKit::hold_appends() { impl_->journal.hold_appends(); }
void ActorKit::release_appends() { impl_->journal.release_appends(); }
void ActorKit::hold_answers() { impl_->journal.hold_answers(); }
void ActorKit::release_answers() { impl_->journal.release_answers(); }
Timestamp ActorKit::now() const { return impl_->now(); }

Result<Appended> ActorKit::append_from_outside(Append append) { return impl_->journal.append_now(std::move(append)); }
std::size_t ActorKit::damage_snapshot(const AggregateId& aggregate) {
  return impl_->journal.damage_snapshots(aggregate);
}
void ActorKit::plant_snapshot(RecordedSnapshot snapshot) { impl_->journal.plant_snapshot(std::move(snapshot)); }
std::vector<RecordedEvent> ActorKit::events() const { return impl_->journal.events(); }
std::vector<RecordedEvent> ActorKit::events_of(const AggregateId& aggregate) const {
  return impl_->journal.events_of(aggregate);
}
std::vector<RecordedSnapshot> ActorKit::snapshots_of(const AggregateId& aggregate) const {
  return impl_->journal.snapshots_of(aggregate);
}
std::size_t ActorKit::appends_undecided() const { return impl_->journal.undecided(); }
std::size_t ActorKit::appends_unanswered() const { return impl_->journal.unanswered(); }

// -- the process

void ActorKit::crash() { impl_->crash(); }

void ActorKit::stop() {
  if (!impl_->host) return;
  impl_->host->stop();
  impl_->end();
}

void ActorKit::restart() {
  const auto kinds = impl_->kinds;
  restart_without_kinds();
  for (const auto& hosted : kinds) {
    const auto again = host_kind(hosted.kind, hosted.options);
    EVERSHARD_CHECK(again.has_value(), "what was hosted once can be hosted again");
  }
}

void ActorKit::restart_without_kinds() {
  impl_->crash();
  impl_->kinds.clear();
  impl_->start();
}

actors::AggregateFigures ActorKit::figures() const {
  return impl_->host ? impl_->host->figures() : actors::AggregateFigures{};
}

// -- AggregateDoor

Result<void> ActorKit::host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) {
  if (!impl_->host) return refuse(gone());
  EVERSHARD_TRY(impl_->host->host_kind(kind, options));
  impl_->kinds.push_back({std::move(kind), options});
  return {};
}

Asking ActorKit::ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command,
                           AskOptions options, AnswerDone done) {
  if (!impl_->host) {
    done(AnyAnswer::failed(gone()));
    return {};
  }
  const auto life = impl_->lives.back();
  auto told = [life, done = std::move(done)](AnyAnswer answer) mutable {
    if (life->ended) {
      life->waiting.push_back(std::move(done));
    } else {
      done(std::move(answer));
    }
  };
  const auto asking = impl_->host->ask_bytes(aggregate, std::move(command_type), std::move(command), std::move(options),
                                             std::move(told));
  return Asking([life, asking] {
    if (!life->ended) asking.cancel();
  });
}

AnyAnswer ActorKit::ask_and_wait(const AggregateId& aggregate, std::string command_type, std::string command,
                                 AskOptions options) {
  if (!impl_->host) return AnyAnswer::failed(gone());
  return impl_->host->ask_and_wait(aggregate, std::move(command_type), std::move(command), std::move(options));
}

Result<StateBytes> ActorKit::state_bytes(const AggregateId& aggregate, StateRead how,
                                         std::chrono::milliseconds timeout) {
  if (!impl_->host) return refuse(gone());
  return impl_->host->state_bytes(aggregate, how, timeout);
}

Result<StateBytes> ActorKit::state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) {
  if (!impl_->host) return refuse(gone());
  return impl_->host->state_bytes_at(aggregate, up_to);
}

Result<void> ActorKit::take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) {
  if (!impl_->host) return refuse(gone());
  return impl_->host->take_snapshot(aggregate, timeout);
}

void ActorKit::passivate(const AggregateId& aggregate) {
  if (impl_->host) impl_->host->passivate(aggregate);
}

}  // namespace evershard
