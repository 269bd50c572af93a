#include "evershard/cluster/aggregates/cluster_aggregates.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "evershard/actors/entity/jitter.hpp"
#include "evershard/actors/entity/replay.hpp"
#include "evershard/actors/threads/work_pool.hpp"
#include "evershard/cluster/aggregates/ask_route.hpp"
#include "evershard/cluster/aggregates/cluster_journal.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cluster {
namespace {

using Clock = std::chrono::steady_clock;
using What = AggregateAsked::What;

// Behind its deadline an ask is answered by who has it; who waits for it in a thread gives up a moment later.
constexpr std::chrono::milliseconds waiter_grace = std::chrono::seconds(2);
// "For ever" must not run over the end of the clock, nor of the wire's milliseconds.
constexpr std::chrono::milliseconds ask_time_max = std::chrono::hours(24 * 30);
constexpr GlobalPosition newest{~std::uint64_t{0}};
constexpr std::size_t state_threads = 2;

AggregateAnswered failed(Error error) { return {AnyAnswer::failed(std::move(error)), PayloadFormat::unspecified}; }

Error stopped() { return {ErrorCode::unavailable, "the node is stopping: nothing new is taken"}; }

Result<StateBytes> state_of(AggregateAnswered answered) {
  if (answered.answer.kind != AnswerKind::replied) return refuse(std::move(answered.answer.error));
  return StateBytes{std::move(answered.answer.reply), answered.format, answered.answer.version,
                    answered.answer.position};
}

/// Counts as held while it waits.
std::size_t bytes_of(const AggregateAsked& asked) {
  return asked.aggregate.value.size() + asked.command_type.size() + asked.command.size() + asked.command_id.size();
}

}  // namespace

struct ClusterAggregates::Impl : std::enable_shared_from_this<ClusterAggregates::Impl> {
  struct Ask {
    Ask(AggregateAsked what, AskRoute along, AggregateDone then)
        : asked(std::move(what)), route(along), done(std::move(then)) {}
    const AggregateAsked asked;
    AskRoute route;  ///< of who holds it: one try at a time
    AggregateDone done;
    std::atomic<bool> told{false};
    std::mutex mutex;
    Asking here;  ///< the try, where it is this node's
  };
  using AskPtr = std::shared_ptr<Ask>;

  ClusterNode& node;
  AggregateNetwork& network;
  const ClusterAggregatesOptions options;
  const Clock::time_point began = Clock::now();
  ClusterJournal stored{node};
  const std::unique_ptr<SealedJournal> sealed{
      options.sealing ? std::make_unique<SealedJournal>(stored, options.sealing, options.sealing_queue) : nullptr};
  actors::AggregateJournal& journal = sealed ? static_cast<actors::AggregateJournal&>(*sealed) : stored;
  actors::AggregateHost host;
  std::vector<std::atomic<bool>> open;
  NodeCommitter::OpenShards epochs;    ///< of the node's thread
  std::atomic<std::uint64_t> seen{0};  ///< the newest position that an answer rests on
  std::atomic<bool> closing{false};
  std::unique_ptr<WorkPool> states;

  mutable std::mutex mutex;
  std::condition_variable more;
  std::multimap<Clock::time_point, AskPtr> waiting;
  std::size_t waiting_bytes = 0;
  bool all_now = false;
  actors::Jitter jitter{std::random_device{}()};
  std::thread sender;
  std::once_flag stopping;

  Impl(ClusterNode& n, AggregateNetwork& w, ClusterAggregatesOptions o)
      : node(n),
        network(w),
        options(std::move(o)),
        host(journal, shards_of(n), options.host),
        open(shards_of(n)),
        states(std::make_unique<WorkPool>(state_threads)) {}

  static std::uint32_t shards_of(ClusterNode& node) { return node.committer().store().identity().shards; }
  [[nodiscard]] bool is_open(const AggregateId& aggregate) const { return open[node.shard_of(aggregate).value]; }
  [[nodiscard]] Error not_here(const AggregateId& aggregate) const {
    ErrorDetails details;
    details.shard = node.shard_of(aggregate);
    return {ErrorCode::wrong_shard,
            "shard " + std::to_string(details.shard->value) + " is not open on node " + std::to_string(options.node),
            std::move(details)};
  }

  /// In the node's thread.
  void shards_are(const NodeCommitter::OpenShards& now_open) {
    std::vector<ShardId> gone;
    for (const auto& [shard, epoch] : epochs) {
      const auto still = now_open.find(shard);
      if (still == now_open.end() || still->second != epoch) gone.push_back(shard);
    }
    for (std::size_t s = 0; s != open.size(); ++s) open[s] = now_open.contains(ShardId{static_cast<std::uint16_t>(s)});
    if (!gone.empty()) host.end(std::move(gone));
    epochs = now_open;
    const std::lock_guard lock(mutex);
    all_now = true;
    more.notify_all();
  }

  // -- asked here

  Asking ask(AggregateAsked asked, bool repeatable, std::chrono::milliseconds time, AggregateDone done) {
    if (auto checked = AggregateId::check(asked.aggregate); !checked) {
      done(failed(std::move(checked).error()));
      return {};
    }
    auto ask = std::make_shared<Ask>(
        std::move(asked), AskRoute(Clock::now() + std::min(time, ask_time_max), repeatable), std::move(done));
    send(ask);
    return Asking([weak = std::weak_ptr(ask), self = weak_from_this()] {
      const auto impl = self.lock();
      const auto held = weak.lock();
      if (!impl || !held) return;
      impl->tell(*held, failed({ErrorCode::cancelled, "the caller went away"}));
      const std::lock_guard lock(held->mutex);
      held->here.cancel();
    });
  }

  AggregateAnswered ask_and_wait(AggregateAsked asked, bool repeatable, std::chrono::milliseconds time) {
    time = std::min(time, ask_time_max);
    auto promise = std::make_shared<std::promise<AggregateAnswered>>();
    auto answer = promise->get_future();
    // The handle that is returned could give the question up: no caller here does.
    static_cast<void>(ask(std::move(asked), repeatable, time,
                          [promise](AggregateAnswered told) { promise->set_value(std::move(told)); }));
    if (answer.wait_for(time + waiter_grace) == std::future_status::ready) return answer.get();
    return failed(
        {ErrorCode::timeout, "no answer within " + std::to_string(time.count()) + " ms: the outcome is unknown"});
  }

  void send(const AskPtr& ask) {
    if (ask->told) return;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(ask->route.deadline() - Clock::now());
    if (closing) return tell(*ask, {ask->route.given_up(stopped()), {}});
    if (left.count() <= 0)
      return tell(*ask, {ask->route.given_up({ErrorCode::unavailable, "its time was over: nothing was done"}), {}});
    const auto shard = node.shard_of(ask->asked.aggregate);
    const auto owner = node.committer().owner(shard);
    auto back = [self = shared_from_this(), ask](AggregateAnswered answered) {
      self->came_back(ask, std::move(answered));
    };
    if (owner == 0) return back(failed(no_owner(shard)));
    if (owner != options.node) {
      auto asked = ask->asked;
      asked.time = left;
      return network.ask(owner, std::move(asked), std::move(back));
    }
    if (!open[shard.value]) return back(failed(not_here(ask->asked.aggregate)));
    auto trying = carry_out(ask->asked, left, std::move(back));
    const std::lock_guard lock(ask->mutex);
    ask->here = std::move(trying);
  }

  void came_back(const AskPtr& ask, AggregateAnswered answered) {
    if (ask->told) return;
    std::unique_lock lock(mutex);
    if (closing && answered.answer.kind == AnswerKind::failed) {
      lock.unlock();
      return tell(*ask, {ask->route.given_up(std::move(answered.answer.error)), {}});
    }
    const auto why = answered.answer.error;
    const auto again = ask->route.came_back(answered.answer, Clock::now(), jitter);
    const auto bytes = bytes_of(ask->asked);
    if (again && waiting.size() < options.waiting_max && waiting_bytes + bytes <= options.waiting_bytes_max) {
      waiting.emplace(*again, ask);
      waiting_bytes += bytes;
      return more.notify_all();
    }
    const auto count = waiting.size();
    lock.unlock();
    if (!again) return tell(*ask, std::move(answered));
    tell(*ask, {ask->route.given_up({ErrorCode::overloaded,
                                     std::to_string(count) + " commands wait for other nodes already: " + why.what}),
                {}});
  }

  void tell(Ask& ask, AggregateAnswered answered) {
    if (ask.told.exchange(true)) return;
    saw(answered.answer.position);
    const auto done = std::move(ask.done);
    done(std::move(answered));
  }

  void saw(GlobalPosition position) {
    auto before = seen.load();
    while (before < position.value && !seen.compare_exchange_weak(before, position.value)) {
    }
  }

  /// Those whose time has come; all of them when shards have.
  void send_again() {
    for (std::unique_lock lock(mutex);;) {
      const auto due = [this] {
        return closing || all_now || (!waiting.empty() && waiting.begin()->first <= Clock::now());
      };
      if (waiting.empty())
        more.wait(lock, [this] { return closing || !waiting.empty(); });
      else
        more.wait_until(lock, waiting.begin()->first, due);
      const auto until = closing || std::exchange(all_now, false) ? waiting.end() : waiting.upper_bound(Clock::now());
      std::vector<AskPtr> asks;
      for (auto at = waiting.begin(); at != until; at = waiting.erase(at)) {
        waiting_bytes -= bytes_of(at->second->asked);
        asks.push_back(std::move(at->second));
      }
      const bool last = closing;
      lock.unlock();
      for (const auto& ask : asks) send(ask);
      if (last) return;
      lock.lock();
    }
  }

  // -- of this node's shards

  Asking carry_out(const AggregateAsked& asked, std::chrono::milliseconds time, AggregateDone done) {
    switch (asked.what) {
      case What::command:
        return host.ask_bytes(
            asked.aggregate, asked.command_type, asked.command,
            {.command_id = asked.command_id, .timeout = time, .fail_if = asked.fail_if, .chain = asked.chain},
            [done = std::move(done)](AnyAnswer answer) {
              done({std::move(answer), {}});
            });
      case What::state: {
        const auto hosted = host.hosted(asked.aggregate.type);
        const auto format = hosted ? hosted->kind->state_format() : PayloadFormat::unspecified;
        return host.ask_state(asked.aggregate, time, [done = std::move(done), format](AnyAnswer answer) {
          done({std::move(answer), format});
        });
      }
      case What::snapshot:
        return host.ask_snapshot(asked.aggregate, time, [done = std::move(done)](AnyAnswer answer) {
          done({std::move(answer), {}});
        });
      case What::stored_state:
        states->run([self = shared_from_this(), asked, time, done = std::move(done)] {
          auto read = self->read_state(asked.aggregate, asked.position, time);
          if (!read) return done(failed(std::move(read).error()));
          done({AnyAnswer::replied(std::move(read->payload), read->version, read->position), read->format});
        });
        return {};
      case What::passivate:
        break;
    }
    host.passivate(asked.aggregate);
    done({AnyAnswer::replied({}, SeqNr{0}, GlobalPosition{0}), {}});
    return {};
  }

  /// Of a type that is hosted here, wherever its events are.
  Result<StateBytes> read_state(const AggregateId& aggregate, GlobalPosition up_to, std::chrono::milliseconds time) {
    EVERSHARD_TRY(AggregateId::check(aggregate));
    const auto hosted = host.hosted(aggregate.type);
    if (!hosted) return refuse(not_hosted(aggregate));
    if (closing) return refuse(stopped());
    auto there = node.wait_for(std::min(up_to, GlobalPosition{seen.load()}), time);
    if (!there) return refuse(std::move(there).error());
    auto state = actors::state_at(*hosted->kind, journal, aggregate, std::min(up_to, journal.watermark()));
    if (!state) return refuse(std::move(state).error());
    return StateBytes{std::move(state->payload), state->format, state->version, state->position};
  }

  [[nodiscard]] Error not_hosted(const AggregateId& aggregate) const {
    return {ErrorCode::invalid_argument, "node " + std::to_string(options.node) +
                                             ", where it would live, hosts no aggregates of type " +
                                             in_quotes(aggregate.type)};
  }

  void stop(std::chrono::milliseconds grace) {
    std::call_once(stopping, [&] {
      {
        const std::lock_guard lock(mutex);
        closing = true;
      }
      more.notify_all();
      sender.join();
      host.stop(grace);
      states.reset();
    });
  }
};

ClusterAggregates::ClusterAggregates(ClusterNode& node, AggregateNetwork& network, ClusterAggregatesOptions options)
    : impl_(std::make_shared<Impl>(node, network, std::move(options))) {
  impl_->sender = std::thread([impl = impl_.get()] { impl->send_again(); });
  if (impl_->options.sealing)
    impl_->options.sealing->watch_erasures([impl = impl_.get()] { impl->host.passivate_of_subjects(); });
  node.committer().watch_shards(this, [weak = std::weak_ptr(impl_)](const NodeCommitter::OpenShards& open) {
    if (const auto impl = weak.lock()) impl->shards_are(open);
  });
}

ClusterAggregates::~ClusterAggregates() {
  if (impl_->options.sealing) impl_->options.sealing->watch_erasures({});
  stop();
  impl_->node.committer().watch_shards(this, {});
}

Result<void> ClusterAggregates::host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) {
  return impl_->host.host_kind(std::move(kind), options);
}

Asking ClusterAggregates::ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command,
                                    AskOptions options, AnswerDone done) {
  const auto hosted = impl_->host.hosted(aggregate.type);
  const bool repeatable = !options.command_id.empty() || (hosted && hosted->kind->is_query(command_type));
  const auto time = options.timeout.value_or(hosted ? hosted->options.command_timeout : HostOptions{}.command_timeout);
  AggregateAsked asked{What::command,
                       aggregate,
                       std::move(command_type),
                       std::move(command),
                       std::move(options.command_id),
                       {},
                       {},
                       std::move(options.fail_if),
                       options.chain};
  return impl_->ask(std::move(asked), repeatable, time,
                    [done = std::move(done)](AggregateAnswered answered) { done(std::move(answered.answer)); });
}

AnyAnswer ClusterAggregates::ask_and_wait(const AggregateId& aggregate, std::string command_type, std::string command,
                                          AskOptions options) {
  const auto hosted = impl_->host.hosted(aggregate.type);
  const bool repeatable = !options.command_id.empty() || (hosted && hosted->kind->is_query(command_type));
  const auto time = options.timeout.value_or(hosted ? hosted->options.command_timeout : HostOptions{}.command_timeout);
  return impl_
      ->ask_and_wait({What::command,
                      aggregate,
                      std::move(command_type),
                      std::move(command),
                      std::move(options.command_id),
                      {},
                      {},
                      std::move(options.fail_if),
                      options.chain},
                     repeatable, time)
      .answer;
}

Result<StateBytes> ClusterAggregates::state_bytes(const AggregateId& aggregate, StateRead how,
                                                  std::chrono::milliseconds timeout) {
  if (how == StateRead::strict) return state_of(impl_->ask_and_wait({What::state, aggregate}, true, timeout));
  if (impl_->host.hosted(aggregate.type)) return impl_->read_state(aggregate, newest, timeout);
  return state_of(
      impl_->ask_and_wait({.what = What::stored_state, .aggregate = aggregate, .position = newest}, true, timeout));
}

Result<StateBytes> ClusterAggregates::state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) {
  constexpr std::chrono::seconds time(10);
  if (impl_->host.hosted(aggregate.type)) return impl_->read_state(aggregate, up_to, time);
  return state_of(
      impl_->ask_and_wait({.what = What::stored_state, .aggregate = aggregate, .position = up_to}, true, time));
}

Result<void> ClusterAggregates::take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) {
  auto taken = impl_->ask_and_wait({What::snapshot, aggregate}, true, timeout);
  if (taken.answer.kind != AnswerKind::replied) return refuse(std::move(taken.answer.error));
  return {};
}

void ClusterAggregates::passivate(const AggregateId& aggregate) {
  // A hint: an aggregate that stays in memory costs room only.
  static_cast<void>(
      impl_->ask({What::passivate, aggregate}, true, std::chrono::seconds(10), [](const AggregateAnswered&) {}));
}

void ClusterAggregates::answer(AggregateAsked asked, AggregateDone done) {
  if (impl_->closing) return done(failed(stopped()));
  if (auto checked = AggregateId::check(asked.aggregate); !checked) return done(failed(std::move(checked).error()));
  if (!impl_->is_open(asked.aggregate)) return done(failed(impl_->not_here(asked.aggregate)));
  if (!impl_->host.hosted(asked.aggregate.type)) {
    auto error = impl_->not_hosted(asked.aggregate);
    if (Clock::now() - impl_->began < impl_->options.hosting_time_max) error.code = ErrorCode::unavailable;
    return done(failed(std::move(error)));
  }
  const auto time = asked.time;
  // The handle that is returned could give the question up: no caller here does.
  static_cast<void>(impl_->carry_out(asked, time, std::move(done)));
}

actors::AggregateFigures ClusterAggregates::figures() const { return impl_->host.figures(); }

std::size_t ClusterAggregates::waiting() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->waiting.size();
}

void ClusterAggregates::stop(std::chrono::milliseconds grace) { impl_->stop(grace); }

}  // namespace evershard::cluster
