#include "evershard/compat/kurrent/hosted_subscription.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "evershard/compat/kurrent/reading.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/kept_pace.hpp"

namespace evershard::kurrent {
namespace {

constexpr auto news_awaited_for = std::chrono::hours(24);
constexpr std::size_t bytes_of_event = 512;                         ///< of memory, where there is nothing in it
constexpr auto keeps_again_after = std::chrono::milliseconds(200);  ///< what could not be kept
constexpr auto keeps_soon_after = std::chrono::milliseconds(10);
constexpr auto looked_kept_every = std::chrono::seconds(5);  ///< how far it looked, where nothing was settled

/// What runs in the pool for a door that is to wait for it.
class Busy {
 public:
  explicit Busy(door::Calls& calls) : calls_(calls) { ++calls_.under_way; }
  ~Busy() { --calls_.under_way; }
  Busy(const Busy&) = delete;

 private:
  door::Calls& calls_;
};

class HostedSession final : public PersistentSession {
 public:
  HostedSession(std::shared_ptr<HostedSubscription> subscription, HostedSubscription::Consumer number)
      : subscription_(std::move(subscription)), number_(number) {}
  ~HostedSession() override { subscription_->leave(number_); }
  void start() override { subscription_->start(number_); }
  void leave() override { subscription_->leave(number_); }
  void acknowledge(const std::vector<EventId>& ids) override { subscription_->acknowledge(number_, ids); }
  void refuse_events(const std::vector<EventId>& ids, PersistentSubscription::Nack how,
                     const std::string& reason) override {
    subscription_->refuse_events(number_, ids, how, reason);
  }

 private:
  const std::shared_ptr<HostedSubscription> subscription_;
  const HostedSubscription::Consumer number_;
};

esps::ReadResp given_of(esp::ReadResp& message) {
  esps::ReadResp response;
  auto& event = *response.mutable_event();
  auto& read = *message.mutable_event();
  if (read.has_event()) *event.mutable_event() = std::move(*read.mutable_event());
  if (read.has_link()) *event.mutable_link() = std::move(*read.mutable_link());
  event.set_commit_position(read.commit_position());
  return response;
}

}  // namespace

std::variant<std::vector<esp::ReadResp>, Refusal> read_to_end(Kurrent& kurrent, const esp::ReadReq& request) {
  auto plan = ReadPlan::of(request);
  if (!plan) return subscription_failed(std::move(plan).error());
  auto reading = Reading::make(kurrent, *std::move(plan));
  std::vector<esp::ReadResp> out;
  while (true) {
    auto stepped = reading->step(out);
    if (auto* refused = std::get_if<Refusal>(&stepped)) return std::move(*refused);
    if (std::get<Reading::Step>(stepped).kind == Reading::Step::Kind::done) return out;
  }
}

HostedSubscription::HostedSubscription(Kurrent& kurrent, AggregateId kept_in, KeptSubscription kept, Keep keep)
    : kurrent_(kurrent),
      kept_in_(std::move(kept_in)),
      version_(kept.version),
      definition_(std::move(kept.definition)),
      keep_(std::move(keep)),
      queue_(limits_of(definition_.options().settings()), kept.progress),
      began_(kept.progress.reached().has_value()),
      kept_(kept.progress.checkpoint) {}

HostedSubscription::~HostedSubscription() = default;

HostedSubscription::Joined HostedSubscription::join(const std::shared_ptr<PersistentConsumer>& consumer,
                                                    PersistentConsumer::Told told) {
  const std::lock_guard lock(mutex_);
  const auto name = name_of(options());
  if (ended_) return subscription_dropped(name, "it was changed, or deleted");
  const auto most = options().settings().max_subscriber_count();
  if (most > 0 && consumers_.size() >= static_cast<std::size_t>(most)) {
    return refused_of_group("maximum-subscribers-reached", name.stream, name.group, ErrorCode::overloaded,
                            "it has " + std::to_string(most) + " subscribers, which is the most it takes");
  }
  const auto number = ++last_consumer_;
  auto& here = consumers_[number] = {consumer, std::move(told)};
  if (options().settings().extra_statistics()) here.latencies.emplace();
  return std::make_shared<HostedSession>(shared_from_this(), number);
}

void HostedSubscription::start(Consumer consumer) {
  std::shared_ptr<PersistentConsumer> to;
  {
    const std::lock_guard lock(mutex_);
    if (const auto here = consumers_.find(consumer); here != consumers_.end()) to = here->second.consumer.lock();
  }
  if (!to) return;
  to->joined();
  {
    const std::lock_guard lock(mutex_);
    const auto here = consumers_.find(consumer);
    if (here == consumers_.end()) return;
    queue_.join(consumer, here->second.told.slots);
  }
  pump();
}

void HostedSubscription::leave(Consumer consumer) {
  serving::HeadWatch::Ticket news = 0, later = 0;
  {
    const std::lock_guard lock(mutex_);
    if (consumers_.erase(consumer) == 0) return;
    queue_.leave(consumer);
    if (consumers_.empty()) {
      news = std::exchange(news_, 0);
      later = std::exchange(later_, 0);
      keep_now_ = true;
    }
  }
  // Not under the lock: a call that is under way in the watch needs it.
  if (news != 0 && kurrent_.calls.served.watch.cancel(news)) {
    const std::lock_guard lock(mutex_);
    idle_waits_ = false;
  }
  if (later != 0 && kurrent_.calls.served.watch.cancel(later)) {
    const std::lock_guard lock(mutex_);
    later_waits_ = false;
  }
  pump();
}

void HostedSubscription::acknowledge(Consumer consumer, const std::vector<EventId>& ids) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& id : ids) {
      measure(consumer, id);
      const auto key = queue_.acknowledge(consumer, id);
      if (!key) continue;
      events_.erase(*key);
      ++settled_unkept_;
      began_ = true;
      choose();
    }
    keep_now_ = keep_now_ || settled_unkept_ >= std::max(options().settings().max_checkpoint_count(), 1);
  }
  pump();
}

void HostedSubscription::refuse_events(Consumer consumer, const std::vector<EventId>& ids,
                                       PersistentSubscription::Nack how, const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& id : ids) {
      measure(consumer, id);
      const auto key = queue_.refuse_event(consumer, id, how, reason);
      if (key && !queue_.is_held(*key)) events_.erase(*key);
      choose();
    }
    say_full();
    began_ = began_ || queue_.is_changed();
    keep_now_ = keep_now_ || queue_.is_changed();
  }
  pump();
}

/// Once, until there is room again.
void HostedSubscription::say_full() {
  if (!queue_.is_full() || queue_.waiting() == 0) return;
  if (std::exchange(said_full_, true) || !kurrent_.calls.served.warn) return;
  const auto name = name_of(options());
  kurrent_.calls.served.warn(
      {ErrorCode::overloaded,
       "the persistent subscription " + in_quotes(name.group, 300) + " to " + in_quotes(name.stream, 300) + " has " +
           std::to_string(queue_.parked()) +
           " parked events, which is the most it keeps: what is to be parked now is given again, "
           "after ever longer waits. Replay the parked ones"});
}

void HostedSubscription::measure(Consumer consumer, const EventId& id) {
  const auto here = consumers_.find(consumer);
  if (here == consumers_.end() || !here->second.latencies) return;
  if (const auto since = queue_.given_at(consumer, id))
    here->second.latencies->add(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - *since));
}

void HostedSubscription::pump() {
  {
    const std::lock_guard lock(mutex_);
    pump_again_ = true;
    if (std::exchange(pumping_, true)) return;
  }
  kurrent_.calls.served.pool.run(
      [self = shared_from_this(), busy = std::make_shared<Busy>(kurrent_.calls)] { self->step(); });
}

/// In the pool: one piece, and then the end of the line again.
void HostedSubscription::step() {
  bool reads = false;
  bool at_once = false;
  {
    const std::lock_guard lock(mutex_);
    pump_again_ = false;
    queue_.expire(Clock::now());
    if (!queue_.is_full()) said_full_ = false;
    if (!ended_ && consumers_.empty()) keep_now_ = true;
    at_once = keep_now_ = keep_now_ && (queue_.is_changed() || looked_on());
    reads = !ended_ && !consumers_.empty() && queue_.has_room() && !idle_waits_;
  }
  give();
  const bool more = reads && read_on();
  give();
  keep(at_once);
  look_later();
  bool again = false;
  {
    const std::lock_guard lock(mutex_);
    again = !ended_ && (pump_again_ || (more && queue_.has_room() && !consumers_.empty()));
    pumping_ = again;
  }
  if (!again) return;
  kurrent_.calls.served.pool.run(
      [self = shared_from_this(), busy = std::make_shared<Busy>(kurrent_.calls)] { self->step(); });
}

bool HostedSubscription::read_on() {
  if (!reading_) {
    std::optional<std::uint64_t> from;
    {
      const std::lock_guard lock(mutex_);
      from = queue_.seen()             ? queue_.seen()
             : definition_.has_after() ? std::optional(definition_.after())
                                       : std::nullopt;
    }
    auto plan = ReadPlan::of(read_of(options(), from));
    if (!plan) {
      drop_all({subscription_failed(std::move(plan).error())});
      return false;
    }
    plan->settled = true;
    reading_ = Reading::make(kurrent_, *std::move(plan));
  }
  std::vector<esp::ReadResp> out;
  const auto read_at = rewritten();
  auto stepped = reading_->step(out);
  take_in(out, read_at);
  if (auto* refused = std::get_if<Refusal>(&stepped)) {
    reading_.reset();
    drop_all({*refused});
    return false;
  }
  if (const auto to = reading_->looked_to(); to && to->value != 0) {
    const std::lock_guard lock(mutex_);
    queue_.looked_at(options().has_all() ? to->value : Derived::number_at(*to));
  }
  const auto& after = std::get<Reading::Step>(stepped);
  if (after.kind != Reading::Step::Kind::idle) return true;
  await_news(after.seen);
  return false;
}

void HostedSubscription::take_in(std::vector<esp::ReadResp>& messages, std::uint64_t read_at) {
  const std::lock_guard lock(mutex_);
  for (auto& message : messages) {
    if (!message.has_event()) continue;
    auto response = given_of(message);
    const auto& event = response.event();
    const auto key = key_of(event);
    const auto item = event.has_event() ? item_of(event) : std::nullopt;
    // What a link names and is not there any more is settled as it is.
    if (item && queue_.add(*item))
      events_[key] = {std::move(response), read_at};
    else
      queue_.looked_at(key);
  }
}

void HostedSubscription::await_news(GlobalPosition seen) {
  {
    const std::lock_guard lock(mutex_);
    if (consumers_.empty() || ended_) return;
    idle_waits_ = true;
  }
  const auto ticket = kurrent_.calls.served.watch.when_matching(
      seen, reading_->interest(), serving::HeadWatch::Clock::now() + news_awaited_for,
      [weak = weak_from_this()](serving::HeadWatch::Why why, GlobalPosition) {
        const auto self = weak.lock();
        if (!self) return;
        {
          const std::lock_guard lock(self->mutex_);
          self->idle_waits_ = false;
          if (why == serving::HeadWatch::Why::closing || self->consumers_.empty()) return;
        }
        self->pump();
      });
  bool nobody = false;
  {
    const std::lock_guard lock(mutex_);
    nobody = consumers_.empty() || ended_;
    if (!nobody && idle_waits_) news_ = ticket;
  }
  if (nobody && kurrent_.calls.served.watch.cancel(ticket)) {
    const std::lock_guard lock(mutex_);
    idle_waits_ = false;
  }
}

void HostedSubscription::choose() {
  for (const auto& [consumer, item] : queue_.give(Clock::now())) {
    const auto here = consumers_.find(consumer);
    const auto event = events_.find(item.key);
    if (here == consumers_.end() || event == events_.end()) continue;
    if (here->second.consumer.expired()) continue;
    ++here->second.given;
    ++given_;
    auto held = event->second;
    held.response.mutable_event()->set_retry_count(static_cast<std::int32_t>(item.retries));
    chosen_.push_back({here->second.consumer, consumer, item.key, item.id, std::move(held)});
  }
}

void HostedSubscription::give() {
  decltype(chosen_) given;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    choose();
    given.swap(chosen_);
  }
  for (auto& one : given) {
    const auto to = one.consumer.lock();
    if (!to) continue;
    if (one.held.read_at != rewritten()) {
      const auto there = look_again(one);
      if (!there) return drop_all({subscription_failed(there.error())});  // as where it cannot read on
      if (!*there) continue;
    }
    to->give(std::move(one.held.response), one.held.read_at);
  }
}

Result<bool> HostedSubscription::look_again(Chosen& chosen) {
  auto now = read_one(chosen.key);
  if (!now) return refuse(std::move(now).error());
  if (!*now) {
    acknowledge(chosen.number, {chosen.id});
    return false;
  }
  (*now)->response.mutable_event()->set_retry_count(chosen.held.response.event().retry_count());
  chosen.held = **std::move(now);
  const std::lock_guard lock(mutex_);
  if (const auto held = events_.find(chosen.key); held != events_.end()) held->second = chosen.held;
  return true;
}

void HostedSubscription::keep(bool at_once, bool finally) {
  const std::lock_guard keeping(keeping_);
  PersistentSubscription::Progress progress;
  {
    const std::lock_guard lock(mutex_);
    if ((ended_ && !finally) || !(queue_.is_changed() || looked_on())) return;
    if (!finally && !consumers_.empty() && Clock::now() < keeps_at(at_once)) return;
    began_ = began_ || looked_on();
    (void)queue_.take_changed();  // whatever it was: all of it is kept now
    progress = queue_.progress();
    keep_now_ = false;
    settled_unkept_ = 0;
    kept_at_ = Clock::now();
  }
  auto snapshot = snapshot_of(kept_in_, version_, progress);
  const auto bytes = snapshot.payload.size();
  const auto written = snapshot.bytes_written = std::make_shared<std::atomic<std::size_t>>(bytes);
  const auto kept = keep_(std::move(snapshot));
  const std::lock_guard lock(mutex_);
  pace_ = pace_behind(bytes, *written);
  if (kept)
    kept_ = progress.checkpoint;
  else
    queue_.changed_again();
}

std::optional<HostedSubscription::Clock::time_point> HostedSubscription::due() const {
  auto at = queue_.next_late();
  if (queue_.is_changed() || looked_on()) {
    const auto keeps = std::max(keeps_at(keep_now_), Clock::now() + (keep_now_ ? keeps_soon_after : keeps_again_after));
    at = at ? std::min(*at, keeps) : keeps;
  }
  return at;
}

bool HostedSubscription::looked_on() const {
  return queue_.is_through() && queue_.checkpoint() != kept_ && !queue_.is_changed();
}

HostedSubscription::Clock::time_point HostedSubscription::keeps_at(bool at_once) const {
  if (!queue_.is_changed()) return kept_at_ + looked_kept_every;
  const auto after = std::chrono::milliseconds(checkpoint_after_ms_of(options().settings()));
  return kept_at_ + (at_once ? pace_ : std::max(after, pace_));
}

/// What is out may be late, what is settled is to be kept: somebody looks again, when it is time for it.
void HostedSubscription::look_later() {
  Clock::time_point when;
  serving::HeadWatch::Ticket later_than_that = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto at = due();
    if (ended_ || consumers_.empty() || !at) return;
    if (later_waits_ && later_at_ <= *at) return;
    if (later_waits_) later_than_that = std::exchange(later_, 0);
    when = *at;
  }
  // One that is being told already has the pump look again.
  if (later_than_that != 0 && !kurrent_.calls.served.watch.cancel(later_than_that)) return;
  {
    const std::lock_guard lock(mutex_);
    later_waits_ = true;
    later_at_ = when;
  }
  const auto ticket = kurrent_.calls.served.watch.at(when, [weak = weak_from_this()](const Result<void>& there) {
    const auto self = weak.lock();
    if (!self) return;
    {
      const std::lock_guard lock(self->mutex_);
      self->later_waits_ = false;
      if (!there || self->consumers_.empty()) return;
    }
    self->pump();
  });
  bool nobody = false;
  {
    const std::lock_guard lock(mutex_);
    nobody = consumers_.empty() || ended_;
    if (!nobody && later_waits_) later_ = ticket;
  }
  if (nobody && kurrent_.calls.served.watch.cancel(ticket)) {
    const std::lock_guard lock(mutex_);
    later_waits_ = false;
  }
}

void HostedSubscription::drop_all(const Dropped& how) {
  std::vector<std::pair<Consumer, std::shared_ptr<PersistentConsumer>>> consumers;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, here] : consumers_) consumers.emplace_back(number, here.consumer.lock());
  }
  for (const auto& [number, consumer] : consumers) {
    leave(number);
    if (consumer) consumer->drop(how);
  }
}

Result<void> HostedSubscription::replay(std::size_t most) {
  std::vector<PersistentSubscription::Key> keys;
  {
    const std::lock_guard lock(mutex_);
    keys = queue_.replay(most);
  }
  std::optional<Error> broken;
  for (const auto key : keys) {
    if (!broken) broken = replay_one(key);
    if (!broken) continue;
    // What was not read stays parked, and is there for the next replay.
    const std::lock_guard lock(mutex_);
    queue_.not_replayed(key);
  }
  {
    const std::lock_guard lock(mutex_);
    began_ = began_ || queue_.is_changed();
    keep_now_ = keep_now_ || queue_.is_changed();
  }
  pump();
  return broken ? Result<void>(refuse(*std::move(broken))) : Result<void>();
}

Result<std::optional<HostedSubscription::Held>> HostedSubscription::read_one(PersistentSubscription::Key key) {
  auto request = read_of(options(), key);
  request.mutable_options()->clear_filter();
  request.mutable_options()->set_count(1);
  const auto read_at = rewritten();
  auto out = read_to_end(kurrent_, request);
  if (auto* refused = std::get_if<Refusal>(&out)) {
    // A stream that was tombstoned shows nothing any more.
    if (refused->why != Refusal::Why::stream_deleted) return refuse(std::move(refused->error));
    out = std::vector<esp::ReadResp>();
  }
  std::optional<Held> held;
  for (auto& message : std::get<std::vector<esp::ReadResp>>(out)) {
    if (!message.has_event() || !message.event().has_event()) continue;
    auto response = given_of(message);
    const auto item = item_of(response.event());
    if (item && item->key == key) held = Held{std::move(response), read_at};
  }
  return held;
}

std::optional<Error> HostedSubscription::replay_one(PersistentSubscription::Key key) {
  auto held = read_one(key);
  if (!held) return std::move(held).error();
  const std::lock_guard lock(mutex_);
  if (!*held) {
    queue_.gone(key);
    return std::nullopt;
  }
  const auto item = item_of((*held)->response.event());
  events_[key] = **std::move(held);
  queue_.add_replayed(*item);
  return std::nullopt;
}

void HostedSubscription::truncate_parked(std::size_t most) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto key : queue_.replay(most)) queue_.gone(key);
    began_ = began_ || queue_.is_changed();
    keep_now_ = keep_now_ || queue_.is_changed();
  }
  keep(true);
  pump();
}

PersistentSubscription::Key HostedSubscription::key_of(const esps::ReadResp::ReadEvent& event) const {
  if (options().has_all()) return event.commit_position();
  return event.has_link() ? event.link().stream_revision() : event.event().stream_revision();
}

std::optional<PersistentSubscription::Item> HostedSubscription::item_of(const esps::ReadResp::ReadEvent& event) const {
  const auto& named = event.has_link() ? event.link() : event.event();
  const auto id = id_of(named.id());
  if (!id) return std::nullopt;
  return PersistentSubscription::Item{key_of(event),
                                      *id,
                                      std::hash<std::string>()(event.event().stream_identifier().stream_name()),
                                      0,
                                      event.ByteSizeLong() + bytes_of_event,
                                      GlobalPosition(event.commit_position())};
}

void HostedSubscription::put_info(esps::SubscriptionInfo& to) {
  const std::lock_guard lock(mutex_);
  const auto& settings = options().settings();
  const bool all = options().has_all();
  to.set_event_source(name_of(options()).stream);
  to.set_group_name(options().group_name());
  to.set_status("Live");
  for (const auto& [number, here] : consumers_) {
    auto& connection = *to.add_connections();
    connection.set_from(here.told.from);
    connection.set_username(here.told.user);
    connection.set_connection_name(here.told.connection);
    connection.set_total_items(here.given);
    connection.set_count_since_last_measurement(here.given);
    const auto has = queue_.in_flight(number);
    connection.set_in_flight_messages(static_cast<std::int32_t>(has));
    connection.set_available_slots(static_cast<std::int32_t>(here.told.slots - std::min(has, here.told.slots)));
    if (!here.latencies) continue;
    for (auto& [measured, ms] : here.latencies->measurements()) {
      auto& measurement = *connection.add_observed_measurements();
      measurement.set_key(std::move(measured));
      measurement.set_value(ms);
    }
  }
  to.set_total_items(given_);
  to.set_count_since_last_measurement(given_);
  to.set_last_checkpointed_event_position(shown_place(all, kept_));
  to.set_last_known_event_position(shown_place(all, queue_.seen()));
  to.set_resolve_link_tos(settings.resolve_links());
  const auto behind = begins_behind(options());
  if (begins_at_end(options()))
    to.set_start_from(all ? "C:-1/P:-1" : "-1");
  else
    to.set_start_from(shown_place(all, behind ? *behind + 1 : 0));
  to.set_message_timeout_milliseconds(message_timeout_ms_of(settings));
  to.set_extra_statistics(settings.extra_statistics());
  to.set_max_retry_count(settings.max_retry_count());
  to.set_live_buffer_size(settings.live_buffer_size());
  to.set_buffer_size(settings.history_buffer_size());
  to.set_read_batch_size(settings.read_batch_size());
  to.set_check_point_after_milliseconds(checkpoint_after_ms_of(settings));
  to.set_min_check_point_count(settings.min_checkpoint_count());
  to.set_max_check_point_count(settings.max_checkpoint_count());
  to.set_read_buffer_count(static_cast<std::int32_t>(queue_.ready() - queue_.retried()));
  to.set_retry_buffer_count(static_cast<std::int32_t>(queue_.retried()));
  to.set_total_in_flight_messages(static_cast<std::int32_t>(queue_.in_flight()));
  to.set_outstanding_messages_count(static_cast<std::int32_t>(queue_.in_flight()));
  to.set_named_consumer_strategy(strategy_of(settings));
  to.set_max_subscriber_count(settings.max_subscriber_count());
  to.set_parked_message_count(static_cast<std::int64_t>(queue_.parked()));
}

std::optional<PersistentSubscription::Progress> HostedSubscription::end(const Dropped& how) {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  drop_all(how);
  keep(true, true);  // where it has moved, it is refused
  const std::lock_guard keeping(keeping_);
  const std::lock_guard lock(mutex_);
  return began_ ? std::optional(queue_.progress()) : std::nullopt;
}

}  // namespace evershard::kurrent
