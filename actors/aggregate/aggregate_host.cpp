#include "evershard/actors/aggregate/aggregate_host.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <random>
#include <shared_mutex>
#include <thread>
#include <utility>
#include <vector>

#include "evershard/actors/aggregate/actor_system.hpp"
#include "evershard/actors/aggregate/cell_actor.hpp"
#include "evershard/actors/aggregate/load_queue.hpp"
#include "evershard/actors/aggregate/prepare_desk.hpp"
#include "evershard/actors/aggregate/reading_threads.hpp"
#include "evershard/actors/entity/jitter.hpp"
#include "evershard/actors/entity/replay.hpp"
#include "evershard/actors/model/old_names.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::actors {
namespace {

// An entity answers at the deadline itself; a caller that hears nothing then waits for a handler that does not end.
constexpr std::chrono::milliseconds answer_grace = std::chrono::seconds(1);
// "For ever" must not run over the end of the clock.
constexpr std::chrono::milliseconds timeout_max = std::chrono::hours(24 * 365);

EntityOptions entity_options(const HostOptions& options) {
  EntityOptions out;
  out.asks_max = options.stash_limit;
  out.asks_bytes_max = options.stash_bytes;
  out.in_flight_max = options.in_flight_limit;
  out.command_timeout = std::min(options.command_timeout, timeout_max);
  out.condition_retries = options.condition_retries;
  out.conflict_retries = options.conflict_retries;
  out.retry_delay_min = options.retry_delay_min;
  out.retry_delay_max = options.retry_delay_max;
  return out;
}

std::uint32_t cells_of(const AggregateHostOptions& options) {
  return options.deterministic ? 4 : std::clamp(std::thread::hardware_concurrency(), 2u, 16u);
}

Error closed() { return {ErrorCode::unavailable, "the aggregates' host is closed: nothing new is taken"}; }

Error not_hosted(const AggregateId& aggregate) {
  return {ErrorCode::invalid_argument, "nobody hosts aggregates of type " + in_quotes(aggregate.type)};
}

Result<void> check(const HostOptions& options) {
  if (options.stash_limit == 0 || options.stash_bytes == 0 || options.in_flight_limit == 0) {
    return refuse(ErrorCode::invalid_argument, "stash_limit, stash_bytes and in_flight_limit are at least 1");
  }
  if (options.command_timeout <= std::chrono::milliseconds(0))
    return refuse(ErrorCode::invalid_argument, "command_timeout is more than 0");
  if (options.retry_delay_min < std::chrono::milliseconds(0) || options.retry_delay_min > options.retry_delay_max) {
    return refuse(ErrorCode::invalid_argument, "retry_delay_min is at least 0 and at most retry_delay_max");
  }
  return {};
}

}  // namespace

struct AggregateHost::Impl {
  /// A share of the shards, hosted by one actor.
  struct Cell {
    std::shared_ptr<CellInbox> inbox;
    std::shared_ptr<CellWindow> window;
    CellActor actor;
  };
  AggregateJournal& journal;
  const AggregateHostOptions options;
  LoadQueue loads;
  ReadingThreads reading;
  SharedPermits permits;
  const std::shared_ptr<PrepareDesk> desk = std::make_shared<PrepareDesk>(options.fork);
  ActorSystem system;
  const std::uint32_t shards;
  std::vector<Cell> cells;
  std::shared_mutex kinds_mutex;
  std::map<std::string, Hosted, std::less<>> kinds;
  OldNames old_names;
  Jitter order;  ///< any_order
  const SteadyTime began;
  std::atomic<std::uint64_t> ticket{0};
  std::atomic<bool> closing{false};
  std::mutex stop_mutex;
  bool stopped = false;

  Impl(AggregateJournal& j, std::uint32_t count, AggregateHostOptions o)
      : journal(j),
        options(o),
        loads(j, o.deterministic ? 1 : std::max<std::size_t>(o.reading_threads, 1)),
        reading(o.deterministic ? 0 : std::max<std::size_t>(o.reading_threads, 1)),
        permits{{}, RecoveryPermits(o.recovery_permits)},
        system(o.deterministic ? Scheduling::deterministic : Scheduling::threads),
        shards(count),
        cells(std::min(count, cells_of(o))),
        order(o.seed),
        began(now()) {
    auto around = std::make_shared<const CellSurroundings>(
        CellSurroundings{journal, reading, loads, permits, *desk,
                         [this](std::uint32_t cell) -> CellInbox& { return *cells[cell].inbox; }});
    std::random_device random;
    Jitter seeds(o.seed);
    for (std::uint32_t i = 0; i < cells.size(); ++i) {
      EntityTable::Options table;
      table.live_max = std::max<std::size_t>(1, options.live_max / cells.size());
      table.idle_after = options.idle_after;
      table.seed = o.deterministic ? seeds.next() : (std::uint64_t{random()} << 32) | random();
      auto& cell = cells[i];
      cell.inbox = std::make_shared<CellInbox>();
      cell.window = std::make_shared<CellWindow>();
      cell.actor = spawn_cell(system, i, table, around, cell.inbox, cell.window);
      cell.inbox->open([actor = cell.actor] { caf::anon_send(actor, WakeAtom::value); });
    }
  }

  /// By the shard, so that a shard's aggregates move together when it does.
  [[nodiscard]] const std::shared_ptr<CellInbox>& inbox_of(const AggregateId& aggregate) const {
    return cells[sharding::shard_of(sharding::stream_hash(aggregate), shards).value % cells.size()].inbox;
  }
  [[nodiscard]] std::optional<Hosted> hosted(std::string_view type) {
    const std::shared_lock lock(kinds_mutex);
    const auto at = kinds.find(type);
    return at == kinds.end() ? std::nullopt : std::optional(at->second);
  }
  [[nodiscard]] SteadyTime now() { return system.caf().clock().now(); }
  [[nodiscard]] SteadyTime deadline(std::chrono::milliseconds timeout) {
    return now() + std::min(timeout, timeout_max);
  }

  Asking ask(const AggregateId& aggregate, Asked asked, AnswerDone done) {
    if (auto checked = AggregateId::check(aggregate); !checked) {
      done(AnyAnswer::failed(std::move(checked).error()));
      return {};
    }
    asked.ticket = AskTicket{++ticket};
    const auto inbox = inbox_of(aggregate);
    const auto named = asked.ticket;
    inbox->put(inputs::AskOne{aggregate, std::move(asked), std::move(done)});
    return Asking([inbox, aggregate, named] { inbox->put(inputs::Cancel{aggregate, named}); });
  }

  /// deterministic: one thing. In any order: which kind is looked for first is drawn.
  bool step() {
    const std::uint64_t first = options.any_order ? order.next() % 3 : 0;
    for (std::uint64_t i = 0; i < 3; ++i) {
      const std::uint64_t kind = (first + i) % 3;
      if (kind == 0 ? system.step() : kind == 1 ? reading.run_one() : options.journal_step && options.journal_step())
        return true;
    }
    return false;
  }
  bool run() {
    bool any = false;
    while (step()) any = true;
    return any;
  }
  /// deterministic: lets time pass until `until`, or until `enough`.
  template <class Enough>
  void pass(SteadyTime until, Enough enough) {
    for (run(); !enough() && now() < until; run()) system.pass(until);
  }

  /// Waits for an answer; deterministic: makes it happen.
  AnyAnswer wait(std::future<AnyAnswer> answer, std::chrono::milliseconds timeout) {
    timeout = std::min(timeout, timeout_max);
    const auto ready = [&] { return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
    if (options.deterministic) pass(now() + timeout + answer_grace, ready);
    if (options.deterministic ? !ready() : answer.wait_for(timeout + answer_grace) != std::future_status::ready) {
      return AnyAnswer::failed(
          {ErrorCode::timeout, "no answer within " + std::to_string(timeout.count()) + " ms: the outcome is unknown"});
    }
    return answer.get();
  }

  AnyAnswer ask_and_wait(const AggregateId& aggregate, Asked asked, std::chrono::milliseconds timeout) {
    // Shared: whoever gave up waiting is not there any more when the answer comes.
    auto promise = std::make_shared<std::promise<AnyAnswer>>();
    auto answer = promise->get_future();
    asked.deadline = deadline(timeout);
    // The handle that ask() returns could give the question up: no caller here does.
    static_cast<void>(
        ask(aggregate, std::move(asked), [promise](AnyAnswer told) { promise->set_value(std::move(told)); }));
    return wait(std::move(answer), timeout);
  }

  [[nodiscard]] bool all_stopped(std::chrono::milliseconds within) {
    const auto until = std::chrono::steady_clock::now() + within;
    for (;;) {
      if (options.deterministic) run();
      const bool all = std::all_of(cells.begin(), cells.end(), [](const Cell& cell) {
        const std::lock_guard lock(cell.window->mutex);
        return cell.window->stopped;
      });
      if (all) return true;
      if (options.deterministic || std::chrono::steady_clock::now() >= until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
};

AggregateHost::AggregateHost(AggregateJournal& journal, std::uint32_t shards, AggregateHostOptions options)
    : impl_(std::make_unique<Impl>(journal, shards, options)) {}

AggregateHost::~AggregateHost() { stop(); }

Result<void> AggregateHost::host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) {
  EVERSHARD_TRY(check(options));
  if (impl_->closing) return refuse(closed());
  const std::string type(kind->type());
  {
    const std::unique_lock lock(impl_->kinds_mutex);
    if (impl_->kinds.contains(type))
      return refuse(ErrorCode::invalid_argument, "aggregates of type " + in_quotes(type) + " are hosted already");
    auto old_names = impl_->old_names;
    EVERSHARD_TRY(old_names.add(kind->types()));
    EVERSHARD_TRY(impl_->desk->host(*kind, options.prepare));
    impl_->old_names = std::move(old_names);
    impl_->kinds.emplace(type, Hosted{kind, options});
  }
  // In the inbox before whatever is asked of it later: nobody has to wait for that.
  Result<void> done{};
  std::vector<std::future<Result<void>>> told;
  for (auto& cell : impl_->cells) {
    auto promise = std::make_shared<std::promise<Result<void>>>();
    told.push_back(promise->get_future());
    cell.inbox->put(inputs::Host{{kind, entity_options(options), impl_->options.limits},
                                 [promise](Result<void> result) { promise->set_value(std::move(result)); }});
  }
  if (impl_->options.deterministic) impl_->run();
  for (auto& one : told) {
    if (auto result = one.get(); !result && done) done = std::move(result);
  }
  if (!done) {
    const std::unique_lock lock(impl_->kinds_mutex);
    impl_->kinds.erase(type);
  }
  return done;
}

Asking AggregateHost::ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command,
                                AskOptions options, AnswerDone done) {
  Asked asked;
  asked.command = {std::move(command_type), std::move(command)};
  asked.command_id = std::move(options.command_id);
  asked.fail_if = std::move(options.fail_if);
  asked.chain = options.chain;
  if (options.timeout) asked.deadline = impl_->deadline(*options.timeout);
  return impl_->ask(aggregate, std::move(asked), std::move(done));
}

AnyAnswer AggregateHost::ask_and_wait(const AggregateId& aggregate, std::string command_type, std::string command,
                                      AskOptions options) {
  if (!options.timeout) {
    const auto hosted = impl_->hosted(aggregate.type);
    options.timeout = hosted ? hosted->options.command_timeout : HostOptions{}.command_timeout;
  }
  Asked asked;
  asked.command = {std::move(command_type), std::move(command)};
  asked.command_id = std::move(options.command_id);
  asked.fail_if = std::move(options.fail_if);
  asked.chain = options.chain;
  return impl_->ask_and_wait(aggregate, std::move(asked), *options.timeout);
}

Result<StateBytes> AggregateHost::state_bytes(const AggregateId& aggregate, StateRead how,
                                              std::chrono::milliseconds timeout) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  const auto hosted = impl_->hosted(aggregate.type);
  if (!hosted) return refuse(not_hosted(aggregate));
  if (impl_->closing) return refuse(closed());
  if (how == StateRead::eventual) {
    auto state = state_at(*hosted->kind, impl_->journal, aggregate);
    if (!state) return refuse(std::move(state).error());
    return StateBytes{std::move(state->payload), state->format, state->version, state->position};
  }
  Asked asked;
  asked.kind = AskKind::state;
  auto answer = impl_->ask_and_wait(aggregate, std::move(asked), timeout);
  if (answer.kind != AnswerKind::replied) return refuse(std::move(answer.error));
  return StateBytes{std::move(answer.reply), hosted->kind->state_format(), answer.version, answer.position};
}

Result<StateBytes> AggregateHost::state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  const auto hosted = impl_->hosted(aggregate.type);
  if (!hosted) return refuse(not_hosted(aggregate));
  if (impl_->closing) return refuse(closed());
  auto state = state_at(*hosted->kind, impl_->journal, aggregate, up_to);
  if (!state) return refuse(std::move(state).error());
  return StateBytes{std::move(state->payload), state->format, state->version, state->position};
}

Result<void> AggregateHost::take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) {
  Asked asked;
  asked.kind = AskKind::snapshot;
  auto answer = impl_->ask_and_wait(aggregate, std::move(asked), timeout);
  if (answer.kind != AnswerKind::replied) return refuse(std::move(answer.error));
  return {};
}

void AggregateHost::passivate(const AggregateId& aggregate) {
  impl_->inbox_of(aggregate)->put(inputs::Passivate{aggregate});
}

Asking AggregateHost::ask_state(const AggregateId& aggregate, std::chrono::milliseconds timeout, AnswerDone done) {
  Asked asked;
  asked.kind = AskKind::state;
  asked.deadline = impl_->deadline(timeout);
  return impl_->ask(aggregate, std::move(asked), std::move(done));
}

Asking AggregateHost::ask_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout, AnswerDone done) {
  Asked asked;
  asked.kind = AskKind::snapshot;
  asked.deadline = impl_->deadline(timeout);
  return impl_->ask(aggregate, std::move(asked), std::move(done));
}

std::optional<AggregateHost::Hosted> AggregateHost::hosted(std::string_view type) const { return impl_->hosted(type); }

void AggregateHost::end(std::vector<ShardId> shards) {
  const auto on_them = [count = impl_->shards, shards = std::move(shards)](const AggregateId& aggregate) {
    return std::ranges::find(shards, sharding::shard_of(sharding::stream_hash(aggregate), count)) != shards.end();
  };
  for (auto& cell : impl_->cells) cell.inbox->put(inputs::End{on_them});
}

void AggregateHost::passivate_of_subjects() {
  for (auto& cell : impl_->cells) cell.inbox->put(inputs::PassivateOfSubjects{});
}

AggregateFigures AggregateHost::figures() const {
  AggregateFigures sum;
  for (const auto& cell : impl_->cells) {
    const std::lock_guard lock(cell.window->mutex);
    sum.counters += cell.window->figures.counters;
    sum.known += cell.window->figures.known;
    sum.live += cell.window->figures.live;
  }
  return sum;
}

void AggregateHost::stop(std::chrono::milliseconds grace) {
  const std::lock_guard one_at_a_time(impl_->stop_mutex);
  if (std::exchange(impl_->stopped, true)) return;
  impl_->closing = true;
  for (auto& cell : impl_->cells) cell.inbox->put(inputs::Stop{});
  if (!impl_->all_stopped(grace)) {
    for (auto& cell : impl_->cells) cell.inbox->put(inputs::Abandon{});
    // What has not ended by then is waited for where the system goes.
    static_cast<void>(impl_->all_stopped(std::chrono::seconds(1)));
  }
  impl_->reading.stop();
  std::vector<caf::actor> actors;
  for (auto& cell : impl_->cells) {
    // Questions that come from here on find no aggregate: their callers are told so.
    cell.inbox->close([](CellInput&& input) {
      if (auto* ask = std::get_if<inputs::AskOne>(&input)) ask->done(AnyAnswer::failed(closed()));
      if (auto* host = std::get_if<inputs::Host>(&input)) host->done(refuse(closed()));
    });
    actors.push_back(caf::actor_cast<caf::actor>(std::exchange(cell.actor, nullptr)));
  }
  impl_->system.end(actors, std::chrono::seconds(2));
}

bool AggregateHost::step() { return impl_->step(); }

bool AggregateHost::run() { return impl_->run(); }

void AggregateHost::advance(std::chrono::nanoseconds time) {
  impl_->pass(impl_->now() + time, [] { return false; });
}

std::chrono::nanoseconds AggregateHost::elapsed() const { return impl_->now() - impl_->began; }

}  // namespace evershard::actors
