#include "evershard/cluster/homes/home_calls.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "evershard/actors/entity/jitter.hpp"
#include "evershard/actors/threads/work_pool.hpp"
#include "evershard/cluster/aggregates/ask_route.hpp"
#include "evershard/cluster/node/awaited.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cluster {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = HomeAnswered::Kind;
using Again = HomeCalls::Again;

// An answer is given when the time is over; it has so long to arrive.
constexpr std::chrono::milliseconds arrival_grace = std::chrono::seconds(2);
// "For ever" must not run over the end of the clock, nor of the wire's milliseconds.
constexpr std::chrono::milliseconds home_time_max = std::chrono::hours(24);

HomeAnswered answered_by(Result<std::string> outcome) {
  if (outcome) return {Kind::answered, *std::move(outcome)};
  if (outcome.error().code == ErrorCode::wrong_shard) return {Kind::not_here, {}, std::move(outcome).error()};
  return {Kind::failed, {}, std::move(outcome).error()};
}

Error homes_stopped() { return {ErrorCode::unavailable, "the node is stopping: nothing new is taken"}; }

}  // namespace

struct HomeCalls::Impl : std::enable_shared_from_this<HomeCalls::Impl> {
  ClusterNode& node;
  HomeNetwork& network;
  const HomeCallsOptions options;
  std::unique_ptr<WorkPool> threads;  ///< of stop() and answer(), under the mutex

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::shared_ptr<const Handler>, std::less<>> handlers;
  std::map<std::string, std::shared_ptr<const LateHandler>, std::less<>> late_handlers;
  NodeCommitter::OpenShards open;
  std::map<ShardId, std::uint32_t> last_home;  ///< of a shard that has none just now
  std::uint64_t shards_changed = 0;
  std::size_t waiting = 0;
  bool closing = false;
  actors::Jitter jitter{std::random_device{}()};
  std::once_flag stopping;
  std::mutex watch_mutex;  ///< held while watchers are told: behind stop() they are not
  std::map<const void*, std::function<void(const NodeCommitter::OpenShards&)>> watchers;

  Impl(ClusterNode& n, HomeNetwork& w, HomeCallsOptions o)
      : node(n), network(w), options(o), threads(std::make_unique<WorkPool>(o.threads)) {}

  void watch_shards() {
    node.committer().watch_shards(this, [weak = weak_from_this()](const NodeCommitter::OpenShards& now_open) {
      if (const auto self = weak.lock()) self->shards_are(now_open);
    });
  }

  /// In the node's thread.
  void shards_are(const NodeCommitter::OpenShards& now_open) {
    {
      const std::lock_guard lock(mutex);
      open = now_open;
      ++shards_changed;
    }
    changed.notify_all();
    const std::lock_guard lock(watch_mutex);
    for (const auto& [who, watcher] : watchers) watcher(now_open);
  }

  [[nodiscard]] std::optional<Epoch> epoch_of(const AggregateId& aggregate) const {
    const auto shard = node.shard_of(aggregate);
    const std::lock_guard lock(mutex);
    const auto found = open.find(shard);
    return found == open.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] HomeAnswered not_here(const AggregateId& aggregate) const {
    ErrorDetails details;
    details.shard = node.shard_of(aggregate);
    return {Kind::not_here,
            {},
            {ErrorCode::wrong_shard,
             "shard " + std::to_string(details.shard->value) + " is not open on node " + std::to_string(options.node),
             std::move(details)}};
  }

  /// Returns: it is answered later, or was.
  [[nodiscard]] bool carried_out_later(HomeAsked& asked, HomeDone& done) {
    std::shared_ptr<const LateHandler> handler;
    {
      const std::lock_guard lock(mutex);
      if (const auto found = late_handlers.find(asked.method); found != late_handlers.end()) handler = found->second;
    }
    if (handler == nullptr) return false;
    const auto epoch = epoch_of(asked.aggregate);
    if (!epoch) return done(not_here(asked.aggregate)), true;
    (*handler)({std::move(asked.aggregate), *epoch, std::move(asked.request), Clock::now() + asked.time},
               [done = std::move(done)](Result<std::string> outcome) { done(answered_by(std::move(outcome))); });
    return true;
  }

  /// In the thread it is called in.
  [[nodiscard]] HomeAnswered carry_out(HomeAsked asked) {
    const auto epoch = epoch_of(asked.aggregate);
    if (!epoch) return not_here(asked.aggregate);
    std::shared_ptr<const Handler> handler;
    {
      const std::lock_guard lock(mutex);
      if (const auto found = handlers.find(asked.method); found != handlers.end()) handler = found->second;
    }
    if (handler == nullptr)
      return answered_by(refuse(
          ErrorCode::unavailable,
          "node " + std::to_string(options.node) + ", where its home is, does not know " + in_quotes(asked.method)));
    try {
      return answered_by(
          (*handler)({std::move(asked.aggregate), *epoch, std::move(asked.request), Clock::now() + asked.time}));
    } catch (const std::exception& thrown) {
      return answered_by(refuse(ErrorCode::unavailable, in_quotes(asked.method) + " failed: " + thrown.what()));
    }
  }

  /// One try. `owner`: who was asked; 0: there is nobody.
  [[nodiscard]] Result<HomeAnswered> ask(const HomeAsked& asked, std::uint32_t& owner) {
    owner = node.committer().owner(node.shard_of(asked.aggregate));
    if (owner == 0) return HomeAnswered{Kind::not_here, {}, no_owner(node.shard_of(asked.aggregate))};
    if (owner == options.node) return carry_out(asked);
    auto told = std::make_shared<std::optional<Result<HomeAnswered>>>();
    network.ask(owner, asked, [self = shared_from_this(), told](Result<HomeAnswered> outcome) {
      {
        const std::lock_guard lock(self->mutex);
        *told = std::move(outcome);
      }
      self->changed.notify_all();
    });
    std::unique_lock lock(mutex);
    changed.wait_until(lock, Clock::now() + asked.time + arrival_grace, [&] { return closing || told->has_value(); });
    if (told->has_value()) return std::move(**told);
    return refuse(ErrorCode::timeout,
                  closing ? "the node is stopping: the outcome is unknown"
                          : "no answer within " + std::to_string(asked.time.count()) + " ms: the outcome is unknown");
  }

  [[nodiscard]] Error away(const AggregateId& aggregate, const Error& why) const {
    const auto last = last_home.find(node.shard_of(aggregate));
    return {ErrorCode::unavailable,
            "the home of " + in_quotes(aggregate.text()) +
                (last == last_home.end() ? "" : ", node " + std::to_string(last->second) + ",") +
                " is away: " + why.what,
            why.details ? *why.details : ErrorDetails{}};
  }

  [[nodiscard]] Result<std::string> call(HomeAsked asked, Again again_if) {
    EVERSHARD_TRY(AggregateId::check(asked.aggregate));
    AskRoute route(Clock::now() + std::min(asked.time, home_time_max), again_if != Again::not_done);
    std::uint64_t seen = 0;
    auto away_since = Clock::time_point::max();  ///< it is not
    for (;;) {
      asked.time = std::chrono::ceil<std::chrono::milliseconds>(route.deadline() - Clock::now());
      {
        const std::lock_guard lock(mutex);
        seen = shards_changed;
        if (closing) return refuse(route.given_up(homes_stopped()).error);
      }
      if (asked.time.count() <= 0)
        return refuse(route.given_up({ErrorCode::unavailable, "its time was over: nothing was done"}).error);
      std::uint32_t home = 0;
      auto outcome = ask(asked, home);
      const bool is_away = home == 0 || (!outcome && outcome.error().code == ErrorCode::unavailable);
      away_since = is_away ? std::min(away_since, Clock::now()) : Clock::time_point::max();
      if (outcome && outcome->kind == Kind::answered) return std::move(outcome->response);
      if (outcome && outcome->kind == Kind::failed) return refuse(std::move(outcome->error));
      auto failed = AnyAnswer::failed(outcome ? std::move(outcome->error) : std::move(outcome).error());
      std::unique_lock lock(mutex);
      if (home != 0) last_home[node.shard_of(asked.aggregate)] = home;
      const auto away_for = again_if == Again::read ? options.away_wait : options.away_change_wait;
      if (is_away && Clock::now() - away_since >= away_for)
        return refuse(route.given_up(away(asked.aggregate, failed.error)).error);
      const auto again = route.came_back(failed, Clock::now(), jitter);
      if (!again) return refuse(std::move(failed.error));
      changed.wait_until(lock, *again, [&] { return closing || shards_changed != seen; });
    }
  }

  void answer(HomeAsked asked, HomeDone done, std::shared_ptr<storage::ReadWork> read) {
    if (auto checked = AggregateId::check(asked.aggregate); !checked) return done(refuse(std::move(checked).error()));
    const auto until = Clock::now() + std::min(asked.time, home_time_max);
    std::unique_lock lock(mutex);
    if (closing) return lock.unlock(), done(refuse(homes_stopped()));
    if (waiting >= options.waiting_max)
      return lock.unlock(), done(refuse(ErrorCode::overloaded, "node " + std::to_string(options.node) +
                                                                   " has as many calls to homes as it takes"));
    ++waiting;
    threads->run([self = shared_from_this(), asked = std::move(asked), until, done = std::move(done),
                  read = std::move(read)]() mutable {
      asked.time = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
      bool last = false;
      {
        const std::lock_guard guard(self->mutex);
        --self->waiting;
        last = self->closing;
      }
      if (last) return done(refuse(homes_stopped()));
      if (asked.time.count() <= 0) return done(refuse(ErrorCode::unavailable, "its time was over: nothing was done"));
      std::optional<storage::ReadWork::Scope> at_work;
      if (read) at_work.emplace(*read);
      if (self->carried_out_later(asked, done)) return;
      done(self->carry_out(std::move(asked)));
    });
  }

  void ask_once(HomeAsked asked, HomeDone done) {
    if (auto checked = AggregateId::check(asked.aggregate); !checked) return done(refuse(std::move(checked).error()));
    {
      const std::lock_guard lock(mutex);
      if (closing) return done(refuse(homes_stopped()));
    }
    const auto owner = node.committer().owner(node.shard_of(asked.aggregate));
    if (owner == 0) return done(HomeAnswered{Kind::not_here, {}, no_owner(node.shard_of(asked.aggregate))});
    if (owner == options.node) return done(not_here(asked.aggregate));
    network.ask(owner, std::move(asked), std::move(done));
  }

  void stop() {
    std::call_once(stopping, [&] {
      std::unique_ptr<WorkPool> ending;
      {
        const std::lock_guard lock(mutex);
        closing = true;
        ending = std::move(threads);
      }
      changed.notify_all();
      {
        const std::lock_guard lock(watch_mutex);
        watchers.clear();
      }
      ending.reset();
    });
  }
};

HomeCalls::HomeCalls(ClusterNode& node, HomeNetwork& network, HomeCallsOptions options)
    : impl_(std::make_shared<Impl>(node, network, options)) {
  impl_->watch_shards();
}

HomeCalls::~HomeCalls() {
  stop();
  impl_->node.committer().watch_shards(impl_.get(), {});
}

void HomeCalls::serve(std::string method, Handler handler) {
  const std::lock_guard lock(impl_->mutex);
  impl_->handlers[std::move(method)] = std::make_shared<const Handler>(std::move(handler));
}

void HomeCalls::serve_later(std::string method, LateHandler handler) {
  const std::lock_guard lock(impl_->mutex);
  impl_->late_handlers[std::move(method)] = std::make_shared<const LateHandler>(std::move(handler));
}

void HomeCalls::ask_once(HomeAsked asked, HomeDone done) { impl_->ask_once(std::move(asked), std::move(done)); }
Result<std::string> HomeCalls::call(HomeAsked asked, Again again) { return impl_->call(std::move(asked), again); }
void HomeCalls::answer(HomeAsked asked, HomeDone done, std::shared_ptr<storage::ReadWork> read) {
  impl_->answer(std::move(asked), std::move(done), std::move(read));
}
std::uint32_t HomeCalls::node() const { return impl_->options.node; }
std::uint32_t HomeCalls::owner(const AggregateId& aggregate) const {
  return impl_->node.committer().owner(impl_->node.shard_of(aggregate));
}
bool HomeCalls::is_home(const AggregateId& aggregate) const { return impl_->epoch_of(aggregate).has_value(); }
std::optional<Epoch> HomeCalls::epoch(const AggregateId& aggregate) const { return impl_->epoch_of(aggregate); }

std::vector<ShardId> HomeCalls::open_here() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<ShardId> shards;
  for (const auto& [shard, epoch] : impl_->open) shards.push_back(shard);
  return shards;
}

void HomeCalls::watch(const void* who, std::function<void(const NodeCommitter::OpenShards&)> changed) {
  {
    const std::lock_guard lock(impl_->watch_mutex);
    impl_->watchers.erase(who);
    if (!changed) return;
    impl_->watchers.emplace(who, std::move(changed));
  }
  impl_->watch_shards();
}

void HomeCalls::stop() { impl_->stop(); }

}  // namespace evershard::cluster
