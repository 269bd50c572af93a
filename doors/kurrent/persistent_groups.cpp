#include "evershard/doors/kurrent/persistent_groups.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "evershard/doors/kurrent/event_form.hpp"
#include "evershard/doors/kurrent/reading.hpp"
#include "evershard/doors/kurrent/stream_name.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::kurrent {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* persistent_type = "$persistent";
constexpr const char* defined_type = "$PersistentSubscription";
constexpr const char* dropped_type = "$PersistentSubscriptionDeleted";
constexpr const char* all_name = "$all";
constexpr std::uint64_t none_yet = std::numeric_limits<std::uint64_t>::max();
constexpr auto looks_every = std::chrono::milliseconds(100);  ///< while something is out, or is to be kept
constexpr auto news_awaited_for = std::chrono::hours(24);
constexpr std::uint32_t progress_revision = 1;
constexpr std::size_t loaded_at_once = 1'000;

/// What runs in the pool for a door that is to wait for it.
class Busy {
 public:
  explicit Busy(door::Calls& calls) : calls_(calls) { ++calls_.under_way; }
  ~Busy() { --calls_.under_way; }
  Busy(const Busy&) = delete;

 private:
  door::Calls& calls_;
};

Refusal group_failed(Error error) {
  Refusal refusal;
  refusal.error = std::move(error);
  return refusal;
}

Refusal group_absent(const std::string& stream, const std::string& group) {
  return refused_of_group(
      "persistent-subscription-does-not-exist", stream, group, ErrorCode::not_found,
      "Subscription group " + group + " on stream " + stream + " does not exist.");  // tests of clients know it
}

Refusal group_dropped(const std::string& stream, const std::string& group, const char* why) {
  return refused_of_group("persistent-subscription-dropped", stream, group, ErrorCode::unavailable, why);
}

/// Lengths keep `a::b` and `c` apart from `a` and `b::c`.
AggregateId kept_in_of(const std::string& stream, const std::string& group) {
  return {persistent_type, std::to_string(stream.size()) + ':' + stream + "::" + group};
}

std::int32_t milliseconds_of(bool in_ticks, std::int64_t ticks, std::int32_t ms) {
  return in_ticks ? static_cast<std::int32_t>(std::clamp<std::int64_t>(ticks / 10'000, 0, INT32_MAX)) : ms;
}

std::int32_t message_timeout_of(const esps::Settings& settings) {
  return milliseconds_of(settings.has_message_timeout_ticks(), settings.message_timeout_ticks(),
                         settings.message_timeout_ms());
}

std::int32_t checkpoint_after_of(const esps::Settings& settings) {
  return milliseconds_of(settings.has_checkpoint_after_ticks(), settings.checkpoint_after_ticks(),
                         settings.checkpoint_after_ms());
}

std::string strategy_of(const esps::Settings& settings) {
  if (!settings.consumer_strategy().empty()) return settings.consumer_strategy();
  return esps::ConsumerStrategy_Name(settings.named_consumer_strategy());
}

PersistentLimits limits_of(const esps::Settings& settings) {
  PersistentLimits limits;
  limits.retries_max = static_cast<std::uint32_t>(std::max(settings.max_retry_count(), 0));
  limits.message_timeout = std::chrono::milliseconds(std::max(message_timeout_of(settings), 0));
  limits.buffer_max = static_cast<std::size_t>(
      std::clamp(std::max(settings.history_buffer_size(), settings.live_buffer_size()), 1, 10'000));
  const auto strategy = strategy_of(settings);
  limits.choice = strategy == "DispatchToSingle"   ? ConsumerChoice::single
                  : strategy.starts_with("Pinned") ? ConsumerChoice::pinned
                                                   : ConsumerChoice::round_robin;
  return limits;
}

Result<void> check_settings(const esps::Settings& settings) {
  const auto strategy = strategy_of(settings);
  constexpr std::array known{"DispatchToSingle", "RoundRobin", "Pinned", "PinnedByCorrelation"};
  if (std::ranges::none_of(known, [&](const char* each) { return strategy == each; }))
    return refuse(ErrorCode::invalid_argument, in_quotes(strategy, 100) + " is no consumer strategy");
  if (settings.max_retry_count() < 0 || settings.max_subscriber_count() < 0 || message_timeout_of(settings) < 0 ||
      checkpoint_after_of(settings) < 0)
    return refuse(ErrorCode::invalid_argument, "a setting of a persistent subscription is negative");
  return {};
}

/// What a group reads, as a read that theirs could ask for.
esp::ReadReq read_of(const esps::GroupOptions& options, std::optional<std::uint64_t> after) {
  esp::ReadReq request;
  auto& read = *request.mutable_options();
  read.set_resolve_links(options.settings().resolve_links());
  read.mutable_subscription();
  read.mutable_uuid_option()->mutable_string();
  if (options.has_all()) {
    if (after) {
      read.mutable_all()->mutable_position()->set_commit_position(*after);
      read.mutable_all()->mutable_position()->set_prepare_position(*after);
    } else {
      read.mutable_all()->mutable_start();
    }
    if (options.all().has_filter()) *read.mutable_filter() = options.all().filter();
    return request;
  }
  read.mutable_stream()->mutable_stream_identifier()->set_stream_name(stream_of(options));
  if (after)
    read.mutable_stream()->set_revision(*after);
  else
    read.mutable_stream()->mutable_start();
  return request;
}

/// Its events, to the end. In a thread that may wait.
std::variant<std::vector<esp::ReadResp>, Refusal> read_all_of(Kurrent& kurrent, const esp::ReadReq& request) {
  auto plan = ReadPlan::of(request);
  if (!plan) return group_failed(std::move(plan).error());
  auto reading = Reading::make(kurrent, *std::move(plan));
  std::vector<esp::ReadResp> out;
  while (true) {
    auto stepped = reading->step(out);
    if (auto* refused = std::get_if<Refusal>(&stepped)) return std::move(*refused);
    if (std::get<Reading::Step>(stepped).kind == Reading::Step::Kind::done) return out;
  }
}

/// Some clients say as older ones did: a stream beside its place, which is the greatest number for the end.
esps::GroupOptions with_stream(const esps::GroupOptions& asked) {
  auto options = asked;
  if (options.has_all() || options.has_stream()) return options;
  auto& stream = *options.mutable_stream();
  *stream.mutable_stream_identifier() = options.stream_identifier();
  const auto revision = options.settings().revision();
  if (revision == std::numeric_limits<std::uint64_t>::max())
    stream.mutable_end();
  else if (revision == 0)
    stream.mutable_start();
  else
    stream.set_revision(revision);
  return options;
}

}  // namespace

std::string stream_of(const esps::GroupOptions& options) {
  if (options.has_all()) return all_name;
  return options.has_stream() && !options.stream().stream_identifier().stream_name().empty()
             ? options.stream().stream_identifier().stream_name()
             : options.stream_identifier().stream_name();
}

HostedSubscription::HostedSubscription(Kurrent& kurrent, AggregateId kept_in, SeqNr version,
                                       esps::KeptDefinition definition, PersistentSubscription::Progress progress)
    : kurrent_(kurrent),
      kept_in_(std::move(kept_in)),
      version_(version),
      definition_(std::move(definition)),
      queue_(limits_of(definition_.options().settings()), progress),
      kept_(progress.checkpoint) {}

HostedSubscription::~HostedSubscription() = default;

std::variant<HostedSubscription::Consumer, Refusal> HostedSubscription::join(
    const std::shared_ptr<PersistentConsumer>& consumer, PersistentConsumer::Told told) {
  const std::lock_guard lock(mutex_);
  const auto& group = options().group_name();
  if (ended_) return group_dropped(stream_of(options()), group, "it was changed, or deleted");
  const auto most = options().settings().max_subscriber_count();
  if (most > 0 && consumers_.size() >= static_cast<std::size_t>(most)) {
    return refused_of_group("maximum-subscribers-reached", stream_of(options()), group, ErrorCode::overloaded,
                            "it has " + std::to_string(most) + " subscribers, which is the most it takes");
  }
  const auto number = ++last_consumer_;
  queue_.join(number, told.slots);
  consumers_[number] = {consumer, std::move(told)};
  return number;
}

void HostedSubscription::leave(Consumer consumer) {
  serving::HeadWatch::Ticket news = 0, later = 0;
  {
    const std::lock_guard lock(mutex_);
    if (consumers_.erase(consumer) == 0) return;
    if (queue_.leave(consumer)) {
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
      const auto key = queue_.acknowledge(consumer, id);
      if (!key) continue;
      events_.erase(*key);
      ++settled_unkept_;
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
      const auto key = queue_.refuse_event(consumer, id, how, reason);
      if (key && !queue_.is_held(*key)) events_.erase(*key);
    }
    keep_now_ = keep_now_ || queue_.is_changed();
  }
  pump();
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
    if (!ended_ && consumers_.empty()) keep_now_ = true;
    at_once = keep_now_ = keep_now_ && queue_.is_changed();
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
      drop_all(group_failed(std::move(plan).error()));
      return false;
    }
    reading_ = Reading::make(kurrent_, *std::move(plan));
  }
  std::vector<esp::ReadResp> out;
  auto stepped = reading_->step(out);
  {
    const std::lock_guard lock(mutex_);
    for (auto& message : out) {
      if (!message.has_event()) continue;
      esps::ReadResp response;
      auto& event = *response.mutable_event();
      if (message.event().has_event()) *event.mutable_event() = std::move(*message.mutable_event()->mutable_event());
      if (message.event().has_link()) *event.mutable_link() = std::move(*message.mutable_event()->mutable_link());
      event.set_commit_position(message.event().commit_position());
      const auto key = key_of(event);
      const auto item = event.has_event() ? item_of(event) : std::nullopt;
      // What a link names and is not there any more is settled as it is.
      if (item && queue_.add(*item))
        events_[key] = std::move(response);
      else
        queue_.looked_at(key);
    }
  }
  if (auto* refused = std::get_if<Refusal>(&stepped)) {
    reading_.reset();
    drop_all(*refused);
    return false;
  }
  const auto& after = std::get<Reading::Step>(stepped);
  if (after.kind != Reading::Step::Kind::idle) return true;
  {
    const std::lock_guard lock(mutex_);
    if (consumers_.empty() || ended_) return false;
    idle_waits_ = true;
  }
  const auto ticket = kurrent_.calls.served.watch.when_matching(
      after.seen, reading_->interest(), serving::HeadWatch::Clock::now() + news_awaited_for,
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
  return false;
}

void HostedSubscription::give() {
  std::vector<std::pair<std::shared_ptr<PersistentConsumer>, esps::ReadResp>> given;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    for (const auto& [consumer, item] : queue_.give(Clock::now())) {
      const auto here = consumers_.find(consumer);
      const auto event = events_.find(item.key);
      if (here == consumers_.end() || event == events_.end()) continue;
      const auto to = here->second.consumer.lock();
      if (!to) continue;
      ++here->second.given;
      ++given_;
      auto response = event->second;
      response.mutable_event()->set_retry_count(static_cast<std::int32_t>(item.retries));
      given.emplace_back(to, std::move(response));
    }
  }
  for (auto& [to, response] : given) to->give(std::move(response));
}

void HostedSubscription::keep(bool at_once) {
  const std::lock_guard keeping(keeping_);
  PersistentSubscription::Progress progress;
  {
    const std::lock_guard lock(mutex_);
    const auto after = std::chrono::milliseconds(checkpoint_after_of(options().settings()));
    if (ended_ || !queue_.is_changed() || (!at_once && Clock::now() - kept_at_ < after)) return;
    (void)queue_.take_changed();
    progress = queue_.progress();
    keep_now_ = false;
    settled_unkept_ = 0;
    kept_at_ = Clock::now();
  }
  esps::KeptProgress message;
  if (progress.checkpoint) message.set_checkpoint(*progress.checkpoint);
  for (const auto key : progress.settled) message.add_settled(key);
  for (const auto& [key, reason] : progress.parked) {
    auto& parked = *message.add_parked();
    parked.set_key(key);
    parked.set_reason(reason);
  }
  const auto kept = kurrent_.events.put_snapshot(
      {kept_in_, version_, message.SerializeAsString(), PayloadFormat::unspecified, progress_revision, {}, {}});
  const std::lock_guard lock(mutex_);
  if (kept)
    kept_ = progress.checkpoint;
  else
    queue_.changed_again();
}

/// What is out may be late, what is settled is to be kept: somebody looks again.
void HostedSubscription::look_later() {
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || consumers_.empty() || later_waits_ || (queue_.in_flight() == 0 && !queue_.is_changed())) return;
    later_waits_ = true;
  }
  const auto ticket = kurrent_.calls.served.watch.at(serving::HeadWatch::Clock::now() + looks_every,
                                                     [weak = weak_from_this()](const Result<void>& there) {
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

void HostedSubscription::drop_all(const Refusal& why) {
  std::vector<std::shared_ptr<PersistentConsumer>> consumers;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, here] : consumers_) {
      if (auto consumer = here.consumer.lock()) consumers.push_back(std::move(consumer));
    }
  }
  for (const auto& consumer : consumers) consumer->drop(why);  // which leaves
}

Result<void> HostedSubscription::replay(std::size_t most) {
  std::vector<PersistentSubscription::Key> keys;
  {
    const std::lock_guard lock(mutex_);
    keys = queue_.replay(most);
  }
  for (const auto key : keys) {
    auto request = read_of(options(), key);
    request.mutable_options()->clear_filter();
    request.mutable_options()->set_count(1);
    auto out = read_all_of(kurrent_, request);
    if (auto* refused = std::get_if<Refusal>(&out)) return refuse(std::move(refused->error));
    const std::lock_guard lock(mutex_);
    for (auto& message : std::get<std::vector<esp::ReadResp>>(out)) {
      if (!message.has_event() || !message.event().has_event()) continue;
      esps::ReadResp response;
      auto& event = *response.mutable_event();
      *event.mutable_event() = std::move(*message.mutable_event()->mutable_event());
      if (message.event().has_link()) *event.mutable_link() = std::move(*message.mutable_event()->mutable_link());
      event.set_commit_position(message.event().commit_position());
      auto item = item_of(event);
      if (!item || item->key != key) continue;
      events_[key] = std::move(response);
      queue_.add_replayed(*item);
    }
  }
  pump();
  return {};
}

PersistentSubscription::Key HostedSubscription::key_of(const esps::ReadResp::ReadEvent& event) const {
  if (options().has_all()) return event.commit_position();
  return event.has_link() ? event.link().stream_revision() : event.event().stream_revision();
}

std::optional<PersistentSubscription::Item> HostedSubscription::item_of(const esps::ReadResp::ReadEvent& event) const {
  const auto& named = event.has_link() ? event.link() : event.event();
  const auto id = id_of(named.id());
  if (!id) return std::nullopt;
  return PersistentSubscription::Item{key_of(event), *id,
                                      std::hash<std::string>()(event.event().stream_identifier().stream_name()), 0};
}

std::string HostedSubscription::shown_place(std::optional<std::uint64_t> key) const {
  if (!key) return {};
  const auto text = std::to_string(*key);
  return options().has_all() ? "C:" + text + "/P:" + text : text;
}

void HostedSubscription::put_info(esps::SubscriptionInfo& to) {
  const std::lock_guard lock(mutex_);
  const auto& settings = options().settings();
  to.set_event_source(stream_of(options()));
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
  }
  to.set_total_items(given_);
  to.set_count_since_last_measurement(given_);
  to.set_last_checkpointed_event_position(shown_place(kept_));
  to.set_last_known_event_position(shown_place(queue_.seen()));
  to.set_resolve_link_tos(settings.resolve_links());
  const auto place = [&](const auto& from, bool at, std::uint64_t where) {
    if (from.has_end()) return std::string(options().has_all() ? "C:-1/P:-1" : "-1");
    return shown_place(at ? where : 0);
  };
  if (options().has_all())
    to.set_start_from(
        place(options().all(), options().all().has_position(), options().all().position().commit_position()));
  else
    to.set_start_from(place(options().stream(), options().stream().has_revision(), options().stream().revision()));
  to.set_message_timeout_milliseconds(message_timeout_of(settings));
  to.set_extra_statistics(settings.extra_statistics());
  to.set_max_retry_count(settings.max_retry_count());
  to.set_live_buffer_size(settings.live_buffer_size());
  to.set_buffer_size(settings.history_buffer_size());
  to.set_read_batch_size(settings.read_batch_size());
  to.set_check_point_after_milliseconds(checkpoint_after_of(settings));
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

PersistentSubscription::Progress HostedSubscription::end(const Refusal& why) {
  drop_all(why);
  const std::lock_guard keeping(keeping_);
  const std::lock_guard lock(mutex_);
  ended_ = true;
  return queue_.progress();
}

Result<void> PersistentGroups::load() {
  if (loaded_) return {};
  std::map<Name, std::shared_ptr<HostedSubscription>> found;
  std::optional<AggregateId> after;
  while (true) {
    const auto some = kurrent_.events.aggregates(persistent_type, after, loaded_at_once);
    if (!some) return refuse(some.error());
    for (const auto& info : *some) {
      after = info.aggregate;
      esps::KeptDefinition definition;
      SeqNr created;
      SeqNr version;
      auto events = kurrent_.events.read(info.aggregate, {});
      for (const auto& event : events) {
        version = event.seq_nr;
        if (event.type == dropped_type) {
          created = SeqNr{0};
          continue;
        }
        if (!definition.ParseFromString(event.payload))
          return refuse(ErrorCode::corruption,
                        "the persistent subscription in " + info.aggregate.text() + " cannot be read");
        if (created.value == 0) created = event.seq_nr;
      }
      if (events.error()) return refuse(*events.error());
      if (created.value == 0) continue;
      PersistentSubscription::Progress progress;
      const auto snapshot = kurrent_.events.snapshot(info.aggregate);
      if (!snapshot) return refuse(snapshot.error());
      if (*snapshot && (*snapshot)->version >= created) {
        esps::KeptProgress kept;
        if ((*snapshot)->schema_revision != progress_revision || !kept.ParseFromString((*snapshot)->payload))
          return refuse(ErrorCode::corruption,
                        "how far the persistent subscription in " + info.aggregate.text() + " is cannot be read");
        if (kept.has_checkpoint()) progress.checkpoint = kept.checkpoint();
        progress.settled.insert(kept.settled().begin(), kept.settled().end());
        for (const auto& parked : kept.parked()) progress.parked[parked.key()] = parked.reason();
      }
      const Name name{stream_of(definition.options()), definition.options().group_name()};
      found[name] = std::make_shared<HostedSubscription>(kurrent_, info.aggregate, version, std::move(definition),
                                                         std::move(progress));
    }
    if (some->size() < loaded_at_once) break;
  }
  hosted_ = std::move(found);
  loaded_ = true;
  return {};
}

Result<SeqNr> PersistentGroups::write(const AggregateId& in, std::string type, const esps::KeptDefinition& definition,
                                      ExpectedVersion expected) {
  EVERSHARD_TRY(AggregateId::check(in));
  Append append;
  Event event;
  event.id = EventId::random();
  event.aggregate = in;
  event.type = std::move(type);
  event.payload = definition.SerializeAsString();
  append.events.push_back(std::move(event));
  if (expected.kind() != ExpectedVersion::Kind::any) append.expectations.push_back({in, expected});
  const auto appended = kurrent_.events.append(std::move(append));
  if (!appended) return refuse(appended.error());
  return appended->versions.front().version;
}

PersistentGroups::Done PersistentGroups::create(const esps::GroupOptions& asked) {
  const auto options = with_stream(asked);
  const std::lock_guard lock(mutex_);
  if (auto there = load(); !there) return group_failed(there.error());
  const auto stream = stream_of(options);
  const auto& group = options.group_name();
  if (group.empty() || stream.empty())
    return group_failed({ErrorCode::invalid_argument, "a persistent subscription has a stream and a name"});
  if (hosted_.contains({stream, group})) {
    return refused_of_group(
        "persistent-subscription-exists", stream, group, ErrorCode::invalid_argument,
        "the persistent subscription " + in_quotes(group, 300) + " to " + in_quotes(stream, 300) + " is there already");
  }
  if (auto fine = check_settings(options.settings()); !fine) return group_failed(fine.error());
  auto request = read_of(options, {});
  if (auto plan = ReadPlan::of(request); !plan) return group_failed(plan.error());
  esps::KeptDefinition definition;
  *definition.mutable_options() = options;
  if (options.has_all()) {
    if (options.all().has_end()) {
      const auto head = kurrent_.events.head();
      if (!head) return group_failed(head.error());
      definition.set_after(head->value);
    } else if (options.all().has_position() && options.all().position().commit_position() > 0) {
      definition.set_after(options.all().position().commit_position() - 1);
    }
  } else if (options.stream().has_end()) {
    request.mutable_options()->set_count(1);
    request.mutable_options()->set_read_direction(esp::ReadReq::Backwards);
    request.mutable_options()->mutable_stream()->mutable_end();
    request.mutable_options()->set_resolve_links(false);
    auto last = read_all_of(kurrent_, request);
    if (auto* refused = std::get_if<Refusal>(&last)) return std::move(*refused);
    for (const auto& message : std::get<std::vector<esp::ReadResp>>(last)) {
      if (message.has_event()) definition.set_after(message.event().event().stream_revision());
    }
  } else if (options.stream().has_revision() && options.stream().revision() > 0) {
    definition.set_after(options.stream().revision() - 1);
  }
  const auto kept_in = kept_in_of(stream, group);
  const auto version = write(kept_in, defined_type, definition, ExpectedVersion::any());
  if (!version) return group_failed(version.error());
  hosted_[{stream, group}] = std::make_shared<HostedSubscription>(kurrent_, kept_in, *version, std::move(definition),
                                                                  PersistentSubscription::Progress{});
  return std::nullopt;
}

PersistentGroups::Done PersistentGroups::update(const esps::GroupOptions& asked) {
  const auto options = with_stream(asked);
  const std::lock_guard lock(mutex_);
  if (auto there = load(); !there) return group_failed(there.error());
  const auto stream = stream_of(options);
  const auto found = hosted_.find({stream, options.group_name()});
  if (found == hosted_.end()) return group_absent(stream, options.group_name());
  auto definition = found->second->definition();
  auto& kept = *definition.mutable_options();
  const auto filter = kept.all();
  const auto strategy = strategy_of(kept.settings());
  *kept.mutable_settings() = options.settings();
  // A change does not name it in a text, and from most clients not at all.
  if (kept.settings().consumer_strategy().empty()) {
    const bool named = options.settings().named_consumer_strategy() != esps::DispatchToSingle;
    kept.mutable_settings()->set_consumer_strategy(
        named ? esps::ConsumerStrategy_Name(options.settings().named_consumer_strategy()) : strategy);
  }
  if (auto fine = check_settings(kept.settings()); !fine) return group_failed(fine.error());
  if (options.has_all()) {
    *kept.mutable_all() = options.all();
    if (filter.has_filter()) *kept.mutable_all()->mutable_filter() = filter.filter();
    if (options.all().has_position() || options.all().has_start()) {
      definition.clear_after();
      if (options.all().position().commit_position() > 0)
        definition.set_after(options.all().position().commit_position() - 1);
    }
  } else if (options.has_stream()) {
    *kept.mutable_stream() = options.stream();
    if (options.stream().has_revision() || options.stream().has_start()) {
      definition.clear_after();
      if (options.stream().revision() > 0) definition.set_after(options.stream().revision() - 1);
    }
  }
  const auto kept_in = kept_in_of(stream, options.group_name());
  const auto version = write(kept_in, defined_type, definition, ExpectedVersion::any());
  if (!version) return group_failed(version.error());
  auto progress = found->second->end(group_dropped(stream, options.group_name(), "it was changed"));
  found->second =
      std::make_shared<HostedSubscription>(kurrent_, kept_in, *version, std::move(definition), std::move(progress));
  return std::nullopt;
}

PersistentGroups::Done PersistentGroups::remove(const std::string& stream, const std::string& group) {
  const std::lock_guard lock(mutex_);
  if (auto there = load(); !there) return group_failed(there.error());
  const auto found = hosted_.find({stream, group});
  if (found == hosted_.end()) return group_absent(stream, group);
  const auto gone = write(kept_in_of(stream, group), dropped_type, {}, ExpectedVersion::any());
  if (!gone) return group_failed(gone.error());
  (void)found->second->end(group_dropped(stream, group, "it was deleted"));
  hosted_.erase(found);
  return std::nullopt;
}

PersistentGroups::Found PersistentGroups::find(const std::string& stream, const std::string& group) {
  const std::lock_guard lock(mutex_);
  if (auto there = load(); !there) return group_failed(there.error());
  const auto found = hosted_.find({stream, group});
  if (found == hosted_.end()) return group_absent(stream, group);
  return found->second;
}

std::variant<std::vector<std::shared_ptr<HostedSubscription>>, Refusal> PersistentGroups::list(
    const std::optional<std::string>& stream) {
  const std::lock_guard lock(mutex_);
  if (auto there = load(); !there) return group_failed(there.error());
  std::vector<std::shared_ptr<HostedSubscription>> some;
  for (const auto& [name, hosted] : hosted_) {
    if (!stream || name.first == *stream) some.push_back(hosted);
  }
  if (stream && some.empty()) return group_absent(*stream, "");
  return some;
}

PersistentGroups::Done PersistentGroups::restart() {
  const std::lock_guard lock(mutex_);
  if (auto there = load(); !there) return group_failed(there.error());
  for (auto& [name, hosted] : hosted_) {
    auto progress = hosted->end(group_dropped(name.first, name.second, "persistent subscriptions begin anew"));
    hosted = std::make_shared<HostedSubscription>(kurrent_, kept_in_of(name.first, name.second), hosted->version(),
                                                  hosted->definition(), std::move(progress));
  }
  return std::nullopt;
}

}  // namespace evershard::kurrent
