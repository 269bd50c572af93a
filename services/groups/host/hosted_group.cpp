#include "evershard/services/groups/host/hosted_group.hpp"

#include <algorithm>
#include <future>
#include <limits>

#include "evershard/api/passing_feed.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/kept_pace.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/services/groups/group_state_bytes.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::cluster {

using actors::GroupTime;
using actors::GroupWorkerId;

namespace {

constexpr std::size_t group_page_events_max = 500;
constexpr int looks_again_max = 8;  ///< at what is given out, while things are removed all the time
constexpr int pages_a_turn = 4;     ///< then other groups have theirs

/// What cannot be read now may be in a moment, somewhere else even. What is damaged stays so, and is told.
bool comes_back(const Error& error) { return error.code != ErrorCode::corruption && error.code != ErrorCode::io; }

std::size_t bytes_of_event(const RecordedEvent& event) {
  return 256 + event.payload.size() + event.metadata_bytes().size();
}

}  // namespace

GroupTime group_time() {
  // From one day on: what is waited for is never before the beginning.
  static const auto began = std::chrono::steady_clock::now() - std::chrono::hours(24);
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began).count();
}

std::int64_t group_wall_ms() { return Timestamp::now().micros / 1'000; }

HostedGroup::HostedGroup(Parts parts, GroupSpec spec, SeqNr version, actors::GroupState state)
    : parts_(std::move(parts)),
      spec_(std::move(spec)),
      version_(version),
      state_(std::move(state)),
      kept_revision_(state_.revision()),
      kept_read_to_(state_.read_to()) {}

void HostedGroup::change(const GroupSpec& spec, SeqNr version) {
  Lock lock(mutex_);
  // One of two that overtook the other, or of a life that another one has. A state of an older version would not be
  // kept.
  if (version <= version_ || spec.life != spec_.life) return;
  spec_ = spec;
  version_ = version;
  state_.change(spec.definition.settings, group_wall_ms());
  deliver(lock);
  parts_.bell->ring(&GroupBell::work);
}

GroupInfo HostedGroup::info(GlobalPosition head) const {
  const Lock lock(mutex_);
  const auto& counters = state_.counters();
  GroupInfo info{.definition = spec_.definition,
                 .position = state_.position(),
                 .read_to = state_.read_to(),
                 .head = head,
                 .unsettled = state_.unsettled(),
                 .in_flight = state_.in_flight(),
                 .waiting = state_.waiting(),
                 .parked = state_.parked().size(),
                 .parked_full = state_.parked_full(),
                 .acknowledged = counters.acknowledged,
                 .rejected = counters.rejected,
                 .expired = counters.expired,
                 .parked_ever = counters.parked,
                 .replayed = counters.replayed,
                 .discarded = counters.discarded,
                 .damaged = passed_over_.count()};
  for (auto& worker : state_.worker_figures()) {
    info.workers.push_back({std::move(worker.name), worker.worker, worker.credit, worker.in_flight, worker.share,
                            worker.oldest, worker.acknowledged});
  }
  info.trouble = !keep_trouble_.empty() ? keep_trouble_ : read_trouble_;
  if (info.trouble.empty() && !unread_.empty())
    info.trouble = "the event at position " + std::to_string(unread_.begin()->first.value) +
                   " cannot be read: " + unread_.begin()->second;
  if (info.trouble.empty()) info.trouble = passed_over_.text();
  return info;
}

Result<std::vector<ParkedEvent>> HostedGroup::parked(GlobalPosition after, std::size_t limit) const {
  std::vector<ParkedEvent> found;
  std::vector<std::optional<std::uint64_t>> hashes;
  Lock lock(mutex_);
  for (auto at = state_.parked().upper_bound(after.value); at != state_.parked().end() && found.size() < limit; ++at) {
    found.push_back({.position = GlobalPosition(at->first),
                     .attempts = at->second.attempts,
                     .behind = at->second.behind,
                     .reason = std::string(state_.reason_of(at->second)),
                     .parked_at = Timestamp{at->second.parked_at_ms * 1'000}});
    hashes.push_back(state_.lane_of(GlobalPosition(at->first)));
  }
  lock.unlock();
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto event = read_again(found[i].position, hashes[i]);
    if (!event && event.error().code != ErrorCode::not_found) return refuse(std::move(event).error());
    if (!event) continue;  // it is gone: its position and its reason are left
    found[i].aggregate = std::move(event->aggregate);
    found[i].type = std::move(event->type);
  }
  return found;
}

template <class Change>
Result<std::uint64_t> HostedGroup::change_parked(Change change) {
  auto promise = std::make_shared<std::promise<Result<void>>>();
  auto kept = promise->get_future();
  Result<std::uint64_t> count;
  {
    Lock lock(mutex_);
    if (ended_) return refuse(*ended_);
    count = change();
    if (!count) return count;
    when_kept([promise](const Result<void>& result) { promise->set_value(result); });
    deliver(lock);
  }
  EVERSHARD_TRY(kept.get());
  return count;
}

Result<std::uint64_t> HostedGroup::replay(std::optional<GlobalPosition> position) {
  return change_parked([&]() -> Result<std::uint64_t> {
    return position ? state_.replay(*position, group_time()) : state_.replay_all(group_time());
  });
}

Result<std::uint64_t> HostedGroup::discard(std::optional<GlobalPosition> position) {
  return change_parked([&]() -> Result<std::uint64_t> {
    return position ? state_.discard(*position, group_time()) : state_.discard_all(group_time());
  });
}

void HostedGroup::end(const Error& why) {
  std::vector<Answer> waiting;
  std::vector<Answer> being_kept;
  Members members;
  {
    const Lock lock(mutex_);
    if (ended_) return;
    ended_ = why;
    waiting.swap(waiting_);
    being_kept.swap(being_kept_);
    members.swap(members_);
    cache_.clear();
    cached_bytes_ = 0;
  }
  {
    const std::lock_guard lock(parts_.bell->mutex);
    parts_.bell->sessions -= members.size();
  }
  for (const auto& answer : waiting) answer(refuse(why));
  for (const auto& answer : being_kept)
    answer(refuse(ErrorCode::timeout, "the outcome is unknown, it may come again: " + why.what));
  for (const auto& [id, member] : members) member.wake();
}

// Sessions.

Result<HostedGroup::Member*> HostedGroup::member(GroupWorkerId worker) {
  if (ended_) return refuse(*ended_);
  EVERSHARD_TRY(state_.heard(worker, group_time()));
  return &members_.at(worker);
}

Result<GroupWorkerId> HostedGroup::join(const GroupJoin& join, std::function<void()> wake) {
  Lock lock(mutex_);
  if (ended_) return refuse(*ended_);
  const auto id = state_.join(join.name, join.credit, group_time());
  members_.emplace(id, Member{std::move(wake), {}, group_time()});
  {
    const std::lock_guard ringing(parts_.bell->mutex);
    ++parts_.bell->sessions;
    parts_.bell->work = true;
    parts_.bell->rung.notify_all();
  }
  deliver(lock);
  return id;
}

void HostedGroup::forget(GroupWorkerId worker) {
  const auto found = members_.find(worker);
  if (found == members_.end()) return;
  wakes_.push_back(std::move(found->second.wake));
  members_.erase(found);
  const std::lock_guard lock(parts_.bell->mutex);
  --parts_.bell->sessions;
}

void HostedGroup::leave(GroupWorkerId worker, bool lost) {
  Lock lock(mutex_);
  if (ended_ || !members_.contains(worker)) return;
  if (lost)
    state_.lose(worker, group_time(), group_wall_ms());
  else
    state_.leave(worker, group_time());
  forget(worker);
  deliver(lock);
  parts_.bell->ring(&GroupBell::work);
}

void HostedGroup::deliver(Lock& lock) {
  if (ended_) return;  // its workers have been told, and are no members any more
  for (const auto& out : state_.deliver(group_time())) {
    auto& to = members_.at(out.worker);
    if (to.queue.empty()) wakes_.push_back(to.wake);
    to.queue.push_back(out);
  }
  if (wakes_.empty()) return;
  std::vector<std::function<void()>> wakes;
  wakes.swap(wakes_);
  lock.unlock();
  for (const auto& wake : wakes) wake();
  lock.lock();
}

void HostedGroup::renew_queue(GroupWorkerId worker, Member& member) {
  const auto now = group_time();
  if (member.queue.empty() || now - member.renewed < state_.settings().lease.count() / 4) return;
  member.renewed = now;
  std::vector<GlobalPosition> positions;
  for (const auto& out : member.queue) positions.push_back(out.position);
  (void)state_.renew(worker, positions, now);  // what ran out is passed over when it is taken
}

Result<std::vector<GroupDelivery>> HostedGroup::take(GroupWorkerId worker, std::size_t most, bool heard) {
  struct Taken {
    actors::GroupDelivered out;
    std::optional<std::uint64_t> hash;
    std::uint64_t read_at = 0;
    std::optional<RecordedEvent> event{};
  };
  std::vector<Taken> taken;
  {
    const Lock lock(mutex_);
    if (ended_) return refuse(*ended_);
    if (heard || !members_.contains(worker)) EVERSHARD_TRY(state_.heard(worker, group_time()));
    auto& here = members_.at(worker);
    if (heard) renew_queue(worker, here);
    auto& queue = here.queue;
    drop_outdated();
    while (taken.size() < most && !queue.empty()) {
      const auto out = queue.front();
      queue.pop_front();
      if (!state_.is_out(out.position, out.delivery)) continue;
      if (!heard)
        state_.hand_over(out.position, out.delivery,
                         group_time());  // by that its node knows how long it is the worker's
      auto& one = taken.emplace_back(Taken{out, state_.lane_of(out.position), cached_at_});
      if (const auto cached = cache_.find(out.position); cached != cache_.end()) {
        one.event = std::move(cached->second);
        cached_bytes_ -= bytes_of_event(*one.event);
        cache_.erase(cached);
      }
    }
  }
  const auto give_back = [&](std::size_t from) {
    for (auto rest = from; rest < taken.size(); ++rest)
      state_.take_back(taken[rest].out.position, taken[rest].out.delivery, 0, group_time());
    taken.resize(from);
  };
  const auto to_be_read = [this](const Taken& one) { return !one.event || one.read_at != rewritten(); };
  // Until all of them are as they are now: something may be removed while another one is read.
  for (int looks = 0; std::ranges::any_of(taken, to_be_read); ++looks) {
    for (std::size_t i = 0; i < taken.size();) {
      if (!to_be_read(taken[i])) {
        ++i;
        continue;
      }
      const auto began = group_time();
      const auto out = taken[i].out;
      taken[i].read_at = rewritten();
      auto event = fetch(out.position, taken[i].hash);
      Lock lock(mutex_);
      if (ended_) return refuse(*ended_);
      if (event) unread_.erase(out.position);
      if (event && *event) {
        taken[i++].event = **std::move(event);
        continue;
      }
      // Who gets nothing now is to come again for what is still there.
      if (const auto here = members_.find(worker); here != members_.end() && !here->second.queue.empty())
        wakes_.push_back(here->second.wake);
      if (!event) {
        // It alone waits. The rest comes with the next call: it may be on the same node, and each is waited for.
        state_.take_back(out.position, out.delivery, note_unread(out.position, event.error(), began), group_time());
        taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(i));
        give_back(i);
        deliver(lock);
        parts_.bell->ring(&GroupBell::work);
        if (taken.empty() && !comes_back(event.error())) return refuse(std::move(event).error());
        break;
      }
      state_.drop(out.position, group_time());
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(i));
      deliver(lock);
      parts_.bell->ring(&GroupBell::keep);
    }
    if (looks < looks_again_max) continue;
    Lock lock(mutex_);
    give_back(static_cast<std::size_t>(std::ranges::find_if(taken, to_be_read) - taken.begin()));
    deliver(lock);
    parts_.bell->ring(&GroupBell::work);
  }
  std::vector<GroupDelivery> given;
  for (auto& one : taken)
    given.push_back({.event = *std::move(one.event), .delivery = one.out.delivery, .attempt = one.out.attempt});
  return given;
}

Result<RecordedEvent> HostedGroup::read_again(GlobalPosition position, std::optional<std::uint64_t> hash) const {
  return parts_.options.event_at ? parts_.options.event_at(position, hash) : parts_.store.event_at(position);
}

/// Trying again takes half of the time at most, however many there are and however long each takes: others are to be
/// given out too.
std::int64_t HostedGroup::note_unread(GlobalPosition position, const Error& why, GroupTime began) {
  while (!unread_.empty() && unread_.begin()->first <= state_.position()) unread_.erase(unread_.begin());
  unread_[position] = why.what;
  const auto all_of_them = 2 * (group_time() - began) * static_cast<std::int64_t>(unread_.size());
  return std::max<std::int64_t>({1, parts_.options.retry_after.count(), all_of_them});
}

/// Nothing: it was removed, nobody is to be given it.
Result<std::optional<RecordedEvent>> HostedGroup::fetch(GlobalPosition position,
                                                        std::optional<std::uint64_t> hash) const {
  auto event = read_again(position, hash);
  if (!event && event.error().code == ErrorCode::not_found) return std::nullopt;
  if (!event) return refuse(std::move(event).error());
  if (event->state == EventState::removed) return std::nullopt;
  return *std::move(event);
}

Result<void> HostedGroup::settle_one(const GroupSettlement& settlement) {
  const auto now = group_time();
  switch (settlement.kind) {
    case GroupSettlement::Kind::acknowledge:
      return state_.acknowledge(settlement.position, settlement.delivery, now);
    case GroupSettlement::Kind::park:
      return state_.park(settlement.position, settlement.delivery, settlement.reason, now, group_wall_ms());
    case GroupSettlement::Kind::begin:
      return state_.begin(settlement.position, settlement.delivery, now);
    case GroupSettlement::Kind::reject:
      break;
  }
  std::optional<std::int64_t> after;
  if (settlement.after) {
    if (settlement.after->count() < 0 || *settlement.after > state_.settings().retry_most) {
      return refuse(ErrorCode::invalid_argument, "a wait of " + std::to_string(settlement.after->count()) +
                                                     " ms: it is from 0 to the group's retry_most_ms, " +
                                                     std::to_string(state_.settings().retry_most.count()));
    }
    after = settlement.after->count();
  }
  return state_.reject(settlement.position, settlement.delivery, settlement.reason, after, now, group_wall_ms());
}

void HostedGroup::settle(GroupWorkerId worker, const std::vector<GroupSettlement>& settlements, GroupSettled done) {
  auto results = std::make_shared<std::vector<Result<void>>>();
  Lock lock(mutex_);
  if (ended_) {
    results->assign(settlements.size(), refuse(*ended_));
    lock.unlock();
    return done(std::move(*results));
  }
  (void)state_.heard(worker, group_time());  // one that was lost may still settle what nobody else has got
  bool any = false;
  for (const auto& one : settlements) {
    results->push_back(settle_one(one));
    if (one.kind == GroupSettlement::Kind::begin) continue;  // nothing of it is kept
    any = any || results->back().has_value();
    if (results->back()) uncache(one.position);
  }
  if (any) {
    when_kept([results, answer = std::move(done)](const Result<void>& kept) {
      for (auto& result : *results) {
        if (result && !kept) result = kept;
      }
      answer(std::move(*results));
    });
  }
  deliver(lock);
  lock.unlock();
  if (!any) done(std::move(*results));
  if (any) parts_.bell->ring(&GroupBell::work);
}

Result<void> HostedGroup::renew(GroupWorkerId worker, std::vector<GlobalPosition> positions) {
  const Lock lock(mutex_);
  auto found = member(worker);
  if (!found) return refuse(std::move(found).error());
  (*found)->renewed = 0;
  renew_queue(worker, **found);
  if (positions.empty()) return {};
  return state_.renew(worker, positions, group_time());
}

Result<void> HostedGroup::alive(GroupWorkerId worker) { return renew(worker, {}); }

std::chrono::milliseconds HostedGroup::lease() const {
  const Lock lock(mutex_);
  return state_.settings().lease;
}

// Reading.

std::uint64_t HostedGroup::lane_of(const RecordedEvent& event) const {
  return event.aggregate ? sharding::stream_hash(*event.aggregate) : sharding::event_hash(event.id);
}

GroupTime HostedGroup::work() {
  Lock lock(mutex_);
  if (ended_) return std::numeric_limits<GroupTime>::max();
  for (const auto lost : state_.tick(group_time(), group_wall_ms())) forget(lost);
  deliver(lock);
  bool more = false;
  for (int page = 0; page < pages_a_turn; ++page) {
    more = read_page(lock);
    if (!more) break;
  }
  if (ended_) return std::numeric_limits<GroupTime>::max();
  const auto now = group_time();
  const auto look_on = keep_next();
  if (state_.revision() != kept_revision_ || look_on <= now) parts_.bell->ring(&GroupBell::keep);
  auto again = state_.next_due().value_or(std::numeric_limits<GroupTime>::max());
  if (!read_trouble_.empty() && reads()) again = std::min(again, read_again_);  // else whoever joins or settles rings
  if (look_on > now) again = std::min(again, look_on);  // else it was rung for, and the keeper sees to the rest
  return more ? 0 : again;
}

GroupTime HostedGroup::keep_next() const {
  return state_.read_to() != kept_read_to_ ? kept_at_ + parts_.options.kept_every.count()
                                           : std::numeric_limits<GroupTime>::max();
}

/// For somebody, and there is room for it.
bool HostedGroup::reads() const { return !ended_ && !members_.empty() && state_.room() != 0; }

/// Returns: there may be more at once.
bool HostedGroup::read_page(Lock& lock) {
  if (!reads() || group_time() < read_again_) return false;
  if (!feed_) {
    const auto page = std::clamp<std::size_t>(state_.settings().window / 2, 1, group_page_events_max);
    feed_.emplace(follow_past_damage(
        parts_.store, spec_.definition.query, {.after = state_.read_to(), .page_events_max = page},
        [this, warn = parts_.options.warn, name = spec_.definition.name](GlobalPosition position, const Error& why) {
          {
            const Lock mine(mutex_);
            passed_over_.add(position, why);
          }
          if (warn)
            warn(Error(why.code, "the group " + in_quotes(name) + " passes over event " +
                                     std::to_string(position.value) + ": " + why.what));
        }));
  }
  lock.unlock();
  const auto read_at = rewritten();
  auto item = feed_->next(std::chrono::milliseconds(0));
  lock.lock();
  if (ended_) return false;
  if (!item) {
    read_trouble_ = item.error().what;
    read_again_ = group_time() + parts_.options.retry_after.count();
    feed_.reset();
    return false;
  }
  read_trouble_.clear();
  // What was removed is nobody's work, nor is, of all events, what the store notes about itself.
  std::erase_if(item->events, [all = spec_.definition.query.is_all()](const RecordedEvent& event) {
    return event.state == EventState::removed || (all && event.aggregate && is_own_aggregate(event.aggregate->type));
  });
  std::vector<actors::GroupEvent> found;
  found.reserve(item->events.size());
  for (const auto& event : item->events) found.push_back({event.position, lane_of(event), event.id});
  const auto before = state_.read_to();
  state_.read(found, item->watermark, group_wall_ms());
  cache(std::move(item->events), read_at);
  deliver(lock);
  return item->kind != FeedItem::Kind::idle && (state_.read_to() > before || item->kind != FeedItem::Kind::events);
}

void HostedGroup::drop_outdated() {
  const auto now = rewritten();
  if (std::exchange(cached_at_, now) == now) return;
  cache_.clear();
  cached_bytes_ = 0;
}

void HostedGroup::cache(std::vector<RecordedEvent> events, std::uint64_t read_at) {
  drop_outdated();
  if (read_at != cached_at_) return;  // they are read again when they are given out
  for (auto& event : events) {
    const auto bytes = bytes_of_event(event);
    if (cached_bytes_ + bytes > parts_.options.cached_bytes_max) break;
    const auto position = event.position;
    if (cache_.emplace(position, std::move(event)).second) cached_bytes_ += bytes;
  }
  while (!cache_.empty() && cache_.begin()->first <= state_.position()) uncache(cache_.begin()->first);
}

void HostedGroup::uncache(GlobalPosition position) {
  unread_.erase(position);
  const auto found = cache_.find(position);
  if (found == cache_.end()) return;
  cached_bytes_ -= bytes_of_event(found->second);
  cache_.erase(found);
}

// Keeping.

void HostedGroup::when_kept(Answer answer) {
  waiting_.push_back(std::move(answer));
  parts_.bell->ring(&GroupBell::keep);
}

GroupTime HostedGroup::keep(bool finally) {
  constexpr auto not_again = std::numeric_limits<GroupTime>::max();
  if (const auto again = look_at_written()) return *again;
  Snapshot snapshot;
  {
    const Lock lock(mutex_);
    if (ended_) return not_again;
    const auto now = group_time();
    const bool nothing_new = state_.revision() == kept_revision_ && keep_next() > now;
    if (waiting_.empty() && (nothing_new || now < keep_again_)) return keep_again_ > now ? keep_again_ : keep_next();
    if (!finally && now < pace_until_) return pace_until_;
    being_kept_.swap(waiting_);
    snapshot = {
        .aggregate = parts_.aggregate,
        .version = version_,
        .payload = actors::GroupStateBytes::encode(state_, {spec_.life, parts_.options.fork_id}, now, group_wall_ms()),
        .schema_revision = actors::GroupStateBytes::schema_revision,
        .keep = {},
        .ttl = {}};
    snapshot.bytes_written = std::make_shared<std::atomic<std::size_t>>(snapshot.payload.size());
    writing_ = Writing{.outcome = std::make_shared<Outcome>(),
                       .revision = state_.revision(),
                       .read_to = state_.read_to(),
                       .bytes = snapshot.payload.size(),
                       .written = snapshot.bytes_written,
                       .until = now + parts_.options.keep_most.count()};
  }
  const auto done = [outcome = writing_->outcome, bell = parts_.bell](Result<void> kept) {
    const std::lock_guard lock(bell->mutex);
    outcome->kept = std::move(kept);
    bell->keep = true;
    bell->rung.notify_all();
  };
  if (parts_.options.keep)
    parts_.options.keep(std::move(snapshot), parts_.term, done);
  else
    done(parts_.store.put_snapshot(std::move(snapshot)));
  if (const auto again = look_at_written()) return *again;
  const Lock lock(mutex_);
  return keep_again_ != 0 ? keep_again_ : keep_next();
}

std::optional<GroupTime> HostedGroup::look_at_written() {
  if (!writing_) return std::nullopt;
  std::optional<Result<void>> kept;
  {
    const std::lock_guard lock(parts_.bell->mutex);
    kept = writing_->outcome->kept;
  }
  if (!kept) {
    if (group_time() < writing_->until) return writing_->until;
    kept = refuse(ErrorCode::timeout, "the outcome is unknown: the group's state was not kept in time");
  }
  std::vector<Answer> waiting;
  {
    const Lock lock(mutex_);
    waiting.swap(being_kept_);
    kept_at_ = group_time();
    keep_trouble_ = *kept ? std::string() : kept->error().what;
    keep_again_ = *kept ? 0 : kept_at_ + parts_.options.retry_after.count();
    if (*kept) {
      kept_revision_ = writing_->revision;
      kept_read_to_ = writing_->read_to;
      pace_until_ = kept_at_ + pace_behind(writing_->bytes, *writing_->written).count();
    }
  }
  writing_.reset();
  for (const auto& answer : waiting) answer(*kept);
  return std::nullopt;
}

void HostedGroup::finish_keeping(GroupTime until) {
  for (;;) {
    // What could not be kept is given out again.
    (void)keep(true);
    if (!writing_) return;
    std::unique_lock lock(parts_.bell->mutex);
    const auto ms = std::chrono::milliseconds(std::max<GroupTime>(0, until - group_time()));
    if (!parts_.bell->rung.wait_for(lock, ms, [&] { return writing_->outcome->kept.has_value(); })) return;
  }
}

}  // namespace evershard::cluster
