#include "evershard/compat/kurrent/persistent_host.hpp"

#include <utility>
#include <vector>

#include "evershard/compat/kurrent/reading.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::kurrent {
namespace {

constexpr std::size_t names_at_once = 1'000;

Dropped moved_from_here(const SubscriptionName& name) {
  return {subscription_dropped(name, "it runs on another node now"), true};
}

}  // namespace

Result<std::vector<SubscriptionName>> names_kept(EventStore& events) {
  std::vector<SubscriptionName> names;
  std::optional<AggregateId> after;
  while (true) {
    const auto some = events.aggregates(persistent_type, after, names_at_once);
    if (!some) return refuse(some.error());
    for (const auto& info : *some) {
      after = info.aggregate;
      if (auto name = name_kept_in(info.aggregate)) names.push_back(*std::move(name));
    }
    if (some->size() < names_at_once) return names;
  }
}

std::mutex& PersistentHost::changing(const SubscriptionName& name) {
  return changing_[std::hash<std::string>()(name.stream + "::" + name.group) % changing_.size()];
}

PersistentHost::Hosted PersistentHost::hosted_as(std::uint64_t term, const AggregateId& kept_in,
                                                 KeptSubscription kept) {
  const auto version = kept.version;
  if (const auto fork = this->fork()) kept.progress.place.set_fork(*fork);
  const auto keep = [this, term](Snapshot state) {
    return homes_ != nullptr ? homes_->keep(std::move(state), term) : kurrent_.events.put_snapshot(std::move(state));
  };
  return {term, version, std::make_shared<HostedSubscription>(kurrent_, kept_in, std::move(kept), keep)};
}

void PersistentHost::put(const SubscriptionName& name, Hosted hosted) {
  std::shared_ptr<HostedSubscription> too_late;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) too_late = hosted.subscription;
    hosted_[name] = std::move(hosted);
  }
  // It was never given to anybody: nothing of it is to be kept.
  if (too_late) (void)too_late->end({subscription_dropped(name, "the server is stopping"), true});
}

Result<std::string> PersistentHost::fork() {
  {
    const std::lock_guard lock(mutex_);
    if (!fork_.empty()) return fork_;
  }
  const auto stats = kurrent_.calls.served.administration.stats();
  if (!stats) return refuse(stats.error());
  const std::lock_guard lock(mutex_);
  return fork_ = stats->info.fork_id;
}

PersistentHost::Looked PersistentHost::look_up(const SubscriptionName& name) {
  const auto kept_in = kept_in_of(name);
  std::uint64_t term = 0;
  if (homes_ != nullptr) {
    const auto now = homes_->term(kept_in);
    if (!now) return subscription_failed(now.error());
    term = *now;
  }
  std::shared_ptr<HostedSubscription> older;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return subscription_failed({ErrorCode::unavailable, "the server is stopping"});
    const auto found = hosted_.find(name);
    if (found != hosted_.end() && found->second.term == term && found->second.subscription) return found->second;
    if (found != hosted_.end()) {
      older = std::move(found->second.subscription);
      hosted_.erase(found);
    }
  }
  // Another node keeps it now: what this one could not keep is given again there.
  if (older) (void)older->end(moved_from_here(name));
  if (homes_ != nullptr) {
    if (auto there = homes_->settled(kept_in); !there) return subscription_failed(there.error());
  }
  Hosted hosted{term};
  auto kept = load_subscription(kurrent_.events, kept_in, hosted.version);
  if (!kept) return subscription_failed(kept.error());
  if (!*kept) return hosted;
  const auto fork = this->fork();
  if (!fork) return subscription_failed(fork.error());
  if (auto numbered = number_by_positions(kurrent_.events, **kept); !numbered)
    return subscription_failed(numbered.error());
  const auto fell_back = settle_progress(kurrent_.events, **kept, *fork);
  if (!fell_back) return subscription_failed(fell_back.error());
  if (!fell_back->empty() && kurrent_.calls.served.warn)
    kurrent_.calls.served.warn({ErrorCode::invalid_argument, "the persistent subscription " +
                                                                 in_quotes(name.group, 300) + " to " +
                                                                 in_quotes(name.stream, 300) + ": " + *fell_back});
  hosted = hosted_as(term, kept_in, std::move(**kept));
  put(name, hosted);
  return hosted;
}

PersistentHost::Found PersistentHost::find(const SubscriptionName& name) {
  if (name.group.empty() || name.stream.empty() || !AggregateId::check(kept_in_of(name)))
    return subscription_absent(name);
  const std::lock_guard lock(changing(name));
  auto looked = look_up(name);
  if (auto* refused = std::get_if<Refusal>(&looked)) return std::move(*refused);
  auto& subscription = std::get<Hosted>(looked).subscription;
  if (!subscription) return subscription_absent(name);
  return std::move(subscription);
}

std::variant<std::optional<std::uint64_t>, Refusal> PersistentHost::start_of(const esps::GroupOptions& options) {
  if (!begins_at_end(options)) return begins_behind(options);
  if (options.has_all()) {
    const auto head = kurrent_.events.head();
    if (!head) return subscription_failed(head.error());
    return std::optional(head->value);
  }
  // The end is behind everything that was ever there, also where nothing of it is shown any more.
  const auto& stream = options.stream().stream_identifier().stream_name();
  if (Derived::from(stream)) {
    const auto head = kurrent_.events.head();
    if (!head) return subscription_failed(head.error());
    return head->value == 0 ? std::nullopt : std::optional(Derived::number_at(*head));
  }
  const auto aggregate = aggregate_of(stream);
  if (!aggregate) return subscription_failed(aggregate.error());
  const auto info = kurrent_.events.aggregate(*aggregate);
  if (info) return std::optional(info->version.value - 1);
  if (info.error().code == ErrorCode::not_found) return std::optional<std::uint64_t>();
  return subscription_failed(info.error());
}

PersistentHost::Done PersistentHost::create(const esps::GroupOptions& asked) {
  const auto options = with_stream(asked);
  const auto name = name_of(options);
  if (name.group.empty() || name.stream.empty())
    return subscription_failed({ErrorCode::invalid_argument, "a persistent subscription has a stream and a name"});
  const auto kept_in = kept_in_of(name);
  if (auto fine = AggregateId::check(kept_in); !fine) return subscription_failed(fine.error());
  const std::lock_guard lock(changing(name));
  auto looked = look_up(name);
  if (auto* refused = std::get_if<Refusal>(&looked)) return std::move(*refused);
  const auto& there = std::get<Hosted>(looked);
  if (there.subscription) {
    return refused_of_group("persistent-subscription-exists", name.stream, name.group, ErrorCode::invalid_argument,
                            "the persistent subscription " + in_quotes(name.group, 300) + " to " +
                                in_quotes(name.stream, 300) + " is there already");
  }
  if (auto fine = check_settings(options.settings()); !fine) return subscription_failed(fine.error());
  if (auto plan = ReadPlan::of(read_of(options, {})); !plan) return subscription_failed(plan.error());
  auto start = start_of(options);
  if (auto* refused = std::get_if<Refusal>(&start)) return std::move(*refused);
  KeptSubscription kept;
  *kept.definition.mutable_options() = options;
  if (const auto after = std::get<std::optional<std::uint64_t>>(start)) kept.definition.set_after(*after);
  const auto version = write_subscription(kurrent_.events, kept_in, there.version, kept.definition);
  if (!version) return subscription_failed(version.error());
  kept.version = *version;
  put(name, hosted_as(there.term, kept_in, std::move(kept)));
  return std::nullopt;
}

PersistentHost::Done PersistentHost::update(const esps::GroupOptions& asked) {
  const auto options = with_stream(asked);
  const auto name = name_of(options);
  const auto kept_in = kept_in_of(name);
  if (!AggregateId::check(kept_in)) return subscription_absent(name);
  const std::lock_guard lock(changing(name));
  auto looked = look_up(name);
  if (auto* refused = std::get_if<Refusal>(&looked)) return std::move(*refused);
  const auto& there = std::get<Hosted>(looked);
  if (!there.subscription) return subscription_absent(name);
  KeptSubscription kept;
  kept.definition = there.subscription->definition();
  const auto before = kept.definition.options();
  *kept.definition.mutable_options() = changed(before, options);
  if (auto fine = check_settings(kept.definition.options().settings()); !fine) return subscription_failed(fine.error());
  const bool elsewhere = !begin_alike(before, kept.definition.options());
  if (elsewhere) {
    auto start = start_of(kept.definition.options());
    if (auto* refused = std::get_if<Refusal>(&start)) return std::move(*refused);
    const auto after = std::get<std::optional<std::uint64_t>>(start);
    kept.definition.clear_after();
    if (after) kept.definition.set_after(*after);
  }
  const auto version = write_subscription(kurrent_.events, kept_in, there.version, kept.definition);
  if (!version) return subscription_failed(version.error());
  kept.version = *version;
  // Where nothing was settled, what was read and given out is no place of its own.
  if (auto progress = there.subscription->end({subscription_dropped(name, "it was changed")}))
    kept.progress = *std::move(progress);
  put(name, hosted_as(there.term, kept_in, std::move(kept)));
  return std::nullopt;
}

PersistentHost::Done PersistentHost::remove(const SubscriptionName& name) {
  const auto kept_in = kept_in_of(name);
  if (!AggregateId::check(kept_in)) return subscription_absent(name);
  const std::lock_guard lock(changing(name));
  auto looked = look_up(name);
  if (auto* refused = std::get_if<Refusal>(&looked)) return std::move(*refused);
  const auto& there = std::get<Hosted>(looked);
  if (!there.subscription) return subscription_absent(name);
  const auto gone = write_subscription(kurrent_.events, kept_in, there.version, {});
  if (!gone) return subscription_failed(gone.error());
  {
    const std::lock_guard erasing(mutex_);
    hosted_.erase(name);
  }
  // It is deleted: nothing of it is kept.
  (void)there.subscription->end({subscription_dropped(name, "it was deleted")});
  return std::nullopt;
}

PersistentHost::Done PersistentHost::info(const SubscriptionName& name, esps::SubscriptionInfo& to) {
  auto found = find(name);
  if (auto* refused = std::get_if<Refusal>(&found)) return std::move(*refused);
  std::get<std::shared_ptr<HostedSubscription>>(found)->put_info(to);
  return std::nullopt;
}

PersistentHost::Done PersistentHost::replay(const SubscriptionName& name, std::size_t most) {
  auto found = find(name);
  if (auto* refused = std::get_if<Refusal>(&found)) return std::move(*refused);
  const auto done = std::get<std::shared_ptr<HostedSubscription>>(found)->replay(most);
  if (!done) return subscription_failed(done.error());
  return std::nullopt;
}

PersistentHost::Done PersistentHost::truncate_parked(const SubscriptionName& name, std::size_t most) {
  auto found = find(name);
  if (auto* refused = std::get_if<Refusal>(&found)) return std::move(*refused);
  std::get<std::shared_ptr<HostedSubscription>>(found)->truncate_parked(most);
  return std::nullopt;
}

PersistentHost::Joined PersistentHost::join(const SubscriptionName& name,
                                            const std::shared_ptr<PersistentConsumer>& consumer,
                                            PersistentConsumer::Told told) {
  auto found = find(name);
  if (auto* refused = std::get_if<Refusal>(&found)) return std::move(*refused);
  return std::get<std::shared_ptr<HostedSubscription>>(found)->join(consumer, std::move(told));
}

PersistentHost::Listed PersistentHost::list(const std::optional<std::string>& stream) {
  auto names = names_kept(kurrent_.events);
  if (!names) return subscription_failed(names.error());
  std::vector<esps::SubscriptionInfo> some;
  for (const auto& name : *names) {
    if (stream && name.stream != *stream) continue;
    auto found = find(name);
    if (auto* refused = std::get_if<Refusal>(&found)) {
      if (refused->error.code == ErrorCode::not_found) continue;  // it was deleted
      return std::move(*refused);
    }
    std::get<std::shared_ptr<HostedSubscription>>(found)->put_info(some.emplace_back());
  }
  if (stream && some.empty()) return subscription_absent({*stream, ""});
  return some;
}

PersistentHost::Done PersistentHost::restart(const SubscriptionName& name) {
  const std::lock_guard lock(changing(name));
  auto looked = look_up(name);
  if (auto* refused = std::get_if<Refusal>(&looked)) return std::move(*refused);
  const auto& there = std::get<Hosted>(looked);
  if (!there.subscription) return std::nullopt;
  KeptSubscription kept{there.version, there.subscription->definition(), {}};
  if (auto progress = there.subscription->end({subscription_dropped(name, "persistent subscriptions begin anew")}))
    kept.progress = *std::move(progress);
  put(name, hosted_as(there.term, kept_in_of(name), std::move(kept)));
  return std::nullopt;
}

PersistentHost::Done PersistentHost::restart() {
  std::vector<SubscriptionName> names;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, hosted] : hosted_) names.push_back(name);
  }
  for (const auto& name : names) {
    if (auto refused = restart(name)) return refused;
  }
  return std::nullopt;
}

void PersistentHost::look_at_homes() {
  std::vector<std::pair<SubscriptionName, std::shared_ptr<HostedSubscription>>> gone;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = hosted_.begin(); at != hosted_.end();) {
      const auto term = homes_->term(kept_in_of(at->first));
      if (term && *term == at->second.term) {
        ++at;
        continue;
      }
      gone.emplace_back(at->first, std::move(at->second.subscription));
      at = hosted_.erase(at);
    }
  }
  for (const auto& [name, subscription] : gone) {
    // Another node keeps it now: what this one could not keep is given again there.
    if (subscription) (void)subscription->end(moved_from_here(name));
  }
}

void PersistentHost::stop(const Dropped& how) {
  std::map<SubscriptionName, Hosted> all;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    all.swap(hosted_);
  }
  for (const auto& [name, hosted] : all) {
    // What could not be kept is given again after the start.
    if (hosted.subscription) (void)hosted.subscription->end(how);
  }
}

}  // namespace evershard::kurrent
