#include "evershard/store/timers/timer_host.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace evershard::cluster {
namespace {

using actors::DueTimer;
using actors::TimerFiring;

constexpr std::chrono::milliseconds feed_wait{1'000};
constexpr std::chrono::milliseconds feed_pause{200};
/// Clocks are set: how long until that is noticed.
constexpr std::chrono::milliseconds clock_looked_at{250};
constexpr std::chrono::microseconds look_again = std::chrono::seconds(1);
constexpr std::size_t page_events_max = 8'192;

}  // namespace

TimerHost::TimerHost(EventStore& events, std::function<AggregateDoor&()> door, TimerHostOptions options)
    : events_(events), door_(std::move(door)), options_(std::move(options)), firing_(options_.firing) {}

void TimerHost::begin() {
  const std::lock_guard lock(mutex_);
  if (feed_ || stopping_) return;
  feed_ = follow();
  reader_ = std::thread([this] { read(); });
  firer_ = std::thread([this] { fire(); });
}

TimerHost::~TimerHost() {
  stop();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return asked_ == 0; });
}

void TimerHost::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true) || !feed_) return;
  }
  feed_->cancel();
  changed_.notify_all();
  reader_.join();
  firer_.join();
}

actors::TimerFigures TimerHost::figures() const {
  const std::lock_guard lock(mutex_);
  return firing_.figures();
}

EventFeed TimerHost::follow() {
  return events_.follow(TimerFiring::query(), {.after = read_to_, .page_events_max = page_events_max});
}

void TimerHost::read() {
  for (;;) {
    auto item = feed_->next(feed_wait);
    std::unique_lock lock(mutex_);
    if (stopping_) return;
    if (!item) {  // a node is away, or what is stored cannot be read
      if (options_.warn && item.error().code != ErrorCode::unavailable &&
          std::exchange(said_, item.error().what) != item.error().what)
        options_.warn(item.error());
      changed_.wait_for(lock, feed_pause, [this] { return stopping_; });
      if (stopping_) return;
      feed_ = follow();
      continue;
    }
    read_to_ = std::max(read_to_, item->watermark);
    for (const auto& event : item->events)
      if (auto taken = firing_.event(event); !taken && options_.warn) options_.warn(taken.error());
    caught_up_ |= item->kind == FeedItem::Kind::caught_up;
    if (!item->events.empty() || item->kind == FeedItem::Kind::caught_up) changed_.notify_all();
  }
}

void TimerHost::fire() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    // Those that were fired or cancelled long ago are known once all has been read.
    const auto now = options_.now();
    const auto next = caught_up_ ? firing_.next(now).value_or(Timestamp::last()) : Timestamp::last();
    if (next > now) {
      changed_.wait_for(lock, std::min<std::chrono::microseconds>(std::chrono::microseconds(next.micros - now.micros),
                                                                  clock_looked_at));
      continue;
    }
    const auto due = firing_.take(now);
    for (const auto& timer : due) {
      if (options_.lives_here && !options_.lives_here(timer.shard)) {
        firing_.leave(timer, {now.micros + look_again.count()});
        continue;
      }
      lock.unlock();
      send(timer);
      lock.lock();
    }
  }
}

void TimerHost::send(const DueTimer& timer) {
  const auto set = events_.event_at(timer.set_at);
  std::optional<TimerFiring::Fire> fire;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    fire = firing_.fire(timer, set, options_.now());
    if (!fire) return;
    ++asked_;
  }
  door_().ask_bytes(fire->aggregate, std::string(fire_timer_type), std::move(fire->command),
                    {.command_id = std::move(fire->command_id)}, [this, timer](AnyAnswer answer) {
                      const std::lock_guard lock(mutex_);
                      firing_.answered(timer, answer, options_.now());
                      --asked_;
                      changed_.notify_all();  // under the lock: who waits for it may be gone behind it
                    });
}

}  // namespace evershard::cluster
