#include "evershard/services/timers/due_host.hpp"

#include <algorithm>
#include <future>
#include <string>
#include <utility>

#include "evershard/api/passing_feed.hpp"

namespace evershard::cluster {
namespace {

using actors::DueTimer;

constexpr std::chrono::milliseconds feed_wait{250};  ///< also until who waits for a position without events hears of it
constexpr std::chrono::milliseconds feed_pause{200};
constexpr auto trouble_told_after = std::chrono::seconds(10);
/// Clocks are set: how long until that is noticed.
constexpr std::chrono::milliseconds clock_looked_at{250};
constexpr std::chrono::microseconds look_again = std::chrono::seconds(1);
constexpr std::size_t page_events_max = 8'192;

}  // namespace

DueHost::DueHost(EventStore& events, DueWork& work, DueHostOptions options)
    : events_(events), work_(work), options_(std::move(options)) {}

void DueHost::begin() {
  const std::lock_guard lock(mutex_);
  if (feed_ || stopping_) return;
  feed_ = follow();
  reader_ = std::thread([this] { read(); });
  if (options_.fires) firer_ = std::thread([this] { fire(); });
}

bool DueHost::begun() const {
  const std::lock_guard lock(mutex_);
  return feed_.has_value();
}

DueHost::~DueHost() {
  stop();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return asked_ == 0; });
}

void DueHost::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true) || !feed_) return;
  }
  feed_->cancel();
  changed_.notify_all();
  reader_.join();
  if (firer_.joinable()) firer_.join();
}

Result<void> DueHost::wait_for(GlobalPosition position, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto there = [&] { return stopping_ || !feed_ || read_to_ >= position; };
  if (!changed_.wait_for(lock, timeout, there))
    return refuse(ErrorCode::timeout, "events up to position " + std::to_string(position.value) +
                                          " were not looked at in time: they are up to " +
                                          std::to_string(read_to_.value));
  if (stopping_ || !feed_) return refuse(ErrorCode::unavailable, "the store is closed");
  return {};
}

EventFeed DueHost::follow() {
  return follow_past_damage(events_, work_.query(), {.after = read_to_, .page_events_max = page_events_max},
                            [this](GlobalPosition position, const Error& why) { pass_over(position, why); });
}

void DueHost::pass_over(GlobalPosition position, const Error& why) {
  ++damaged_;
  if (options_.warn)
    options_.warn(Error(why.code, "what event " + std::to_string(position.value) +
                                      " set to be done later is passed over: " + why.what));
}

/// A node is away, mostly: for a moment that is nothing to say.
void DueHost::say_trouble(const Error& trouble) {
  const auto now = std::chrono::steady_clock::now();
  if (!in_trouble_since_) in_trouble_since_ = now;
  const bool passes = trouble.code == ErrorCode::unavailable && !trouble.lasting();
  if (!options_.warn || (passes && now - *in_trouble_since_ < trouble_told_after)) return;
  if (std::exchange(said_, trouble.what) == trouble.what) return;
  options_.warn(Error(trouble.code, "what is to be done later is not followed: " + trouble.what));
}

// While there is much to read, the next page is fetched beside: opening a store with a million timers is this.
void DueHost::read() {
  const auto next = [this] { return feed_->next(feed_wait); };
  std::future<Result<FeedItem>> ahead;
  for (;;) {
    auto item = ahead.valid() ? ahead.get() : next();
    std::unique_lock lock(mutex_);
    if (stopping_) return;
    if (item && item->events.size() == page_events_max) ahead = std::async(std::launch::async, next);
    if (!item) {  // a node is away, or what is stored cannot be read
      say_trouble(item.error());
      changed_.wait_for(lock, feed_pause, [this] { return stopping_; });
      if (stopping_) return;
      feed_ = follow();
      continue;
    }
    read_to_ = std::max(read_to_, item->watermark);
    in_trouble_since_.reset();
    for (const auto& event : item->events)
      if (auto taken = work_.event(event); !taken) pass_over(event.position, taken.error());
    caught_up_ |= item->kind == FeedItem::Kind::caught_up;
    changed_.notify_all();
  }
}

void DueHost::fire() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    // Those that were done or cancelled long ago are known once all has been read.
    const auto now = options_.now();
    look_at_clock(now);
    const auto next = caught_up_ ? work_.queue().next(now).value_or(Timestamp::last()) : Timestamp::last();
    if (next > now) {
      changed_.wait_for(lock, std::min<std::chrono::microseconds>(std::chrono::microseconds(next.micros - now.micros),
                                                                  clock_looked_at));
      continue;
    }
    const auto due = work_.queue().take(now);
    for (const auto& timer : due) {
      if (options_.lives_here && !options_.lives_here(timer.shard)) {
        work_.queue().leave(timer, {now.micros + look_again.count()});
        continue;
      }
      lock.unlock();
      send(timer);
      lock.lock();
    }
  }
}

// What is to be tried again in a second waits until a time of this clock: where that was ahead, an hour perhaps.
void DueHost::look_at_clock(Timestamp now) {
  constexpr std::chrono::milliseconds apart(500);
  const auto steady = std::chrono::steady_clock::now();
  if (clock_) {
    const std::chrono::microseconds passed(now.micros - clock_->first.micros);
    if (passed + apart < steady - clock_->second) work_.queue().clock_was_set_back();
  }
  clock_ = {now, steady};
}

void DueHost::send(const DueTimer& timer) {
  const auto set = events_.event_at(timer.set_at);
  DueWork::Send send;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    send = work_.fire(timer, set, options_.now());
    if (!send) return;
    ++asked_;
  }
  send([this](const DueWork::Answer& answer) {
    const std::lock_guard lock(mutex_);
    answer(options_.now());
    --asked_;
    changed_.notify_all();  // under the lock: who waits for it may be gone behind it
  });
}

}  // namespace evershard::cluster
