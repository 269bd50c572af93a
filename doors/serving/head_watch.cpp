#include "evershard/doors/serving/head_watch.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace evershard::serving {
namespace {

/// How late a deadline may be noticed; a watermark that moves is noticed at once.
constexpr auto deadline_grain = std::chrono::milliseconds(20);
/// Looking at events takes at most this part of a thread's time: whoever appends a lot is not slowed by many who wait
/// for something else, and who waits under such a load is told a moment later.
constexpr int looking_is_one_part_in = 20;
/// When more events than this came at once, every waiter is behind anyway, and looks at the events itself.
constexpr std::uint64_t looked_at_once_max = 4'096;

Error closing() { return {ErrorCode::unavailable, "the server is stopping"}; }

}  // namespace

HeadWatch::HeadWatch(EventStore& store) : store_(store), thread_([this] { watch(); }) {}

HeadWatch::Ticket HeadWatch::when_reached(GlobalPosition position, Clock::time_point deadline, Reached done) {
  const auto head = store_.head();
  if (!head || *head >= position) {
    done(head);
    return 0;
  }
  std::unique_lock lock(mutex_);
  if (closing_) {
    lock.unlock();
    done(refuse(closing()));
    return 0;
  }
  const auto ticket = ++last_;
  by_deadline_.emplace(deadline, ticket);
  by_position_.emplace(position, ticket);
  waits_.emplace(ticket, Wait{position, deadline, std::move(done), {}});
  changed_.notify_all();
  return ticket;
}

HeadWatch::Ticket HeadWatch::at(Clock::time_point when, std::function<void(Result<void>)> done) {
  constexpr GlobalPosition never_reached{std::numeric_limits<std::uint64_t>::max()};
  return when_reached(never_reached, when, [done = std::move(done)](const Result<GlobalPosition>& reached) {
    done(reached.error().code == ErrorCode::timeout ? Result<void>() : Result<void>(refuse(reached.error())));
  });
}

HeadWatch::Ticket HeadWatch::when_matching(GlobalPosition after, Query query, Clock::time_point deadline, Wake wake) {
  const auto head = store_.head().value_or(after);
  std::unique_lock lock(mutex_);
  if (closing_ || (after < looked_at_ && !interests_.empty())) {
    const auto why = closing_ ? Why::closing : Why::something;
    lock.unlock();
    wake(why, after);
    return 0;
  }
  // Whatever lies before it is nobody's business. One that waits from beyond the head must not hide from others what
  // comes before.
  if (interests_.empty()) looked_at_ = std::min(after, head);
  const auto ticket = ++last_;
  by_deadline_.emplace(deadline, ticket);
  waits_.emplace(ticket, Wait{after, deadline, {}, std::move(wake)});
  interests_.add(ticket, std::move(query));
  changed_.notify_all();
  return ticket;
}

bool HeadWatch::cancel(Ticket ticket) {
  std::optional<Wait> wait;  // what it holds goes outside of the lock
  std::unique_lock lock(mutex_);
  wait = take(ticket);
  if (!wait && std::this_thread::get_id() != thread_.get_id()) changed_.wait(lock, [&] { return calling_ != ticket; });
  return wait.has_value();
}

void HeadWatch::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  const std::lock_guard joining(joining_);
  if (thread_.joinable()) thread_.join();
}

void HeadWatch::watch() {
  std::unique_lock lock(mutex_);
  GlobalPosition seen{0};
  while (!closing_) {
    changed_.wait(lock, [this] { return closing_ || !waits_.empty(); });
    if (closing_) break;
    const auto behind = interests_.empty() ? seen : std::min(seen, looked_at_);
    lock.unlock();
    auto head = store_.wait_for(behind + 1, deadline_grain);
    if (!head && head.error().code == ErrorCode::timeout) head = store_.head();
    lock.lock();
    if (!head) break;  // the store was closed, or failed
    seen = std::max(seen, *head);
    end_reached(lock, *head);
    wake(lock, interests_.of_everything(), *head);
    if (!interests_.empty() && looked_at_ < *head) {
      const auto began = Clock::now();
      if (interests_.needs_events() && began < look_again_at_) {
        const auto until =
            std::min(look_again_at_, by_deadline_.begin()->first);  // a copy: that wait may be gone before
        changed_.wait_until(lock, until, [this] { return closing_; });
      } else {
        look_at_new_events(lock, *head);
        look_again_at_ = Clock::now() + (Clock::now() - began) * (looking_is_one_part_in - 1);
      }
    }
    end_late(lock, *head);
  }
  closing_ = true;
  end_all(lock);
}

std::optional<HeadWatch::Wait> HeadWatch::take(Ticket ticket) {
  const auto found = waits_.find(ticket);
  if (found == waits_.end()) return std::nullopt;
  by_deadline_.erase({found->second.deadline, ticket});
  if (found->second.reached)
    by_position_.erase({found->second.position, ticket});
  else
    interests_.remove(ticket);
  Wait wait = std::move(found->second);
  waits_.erase(found);
  return wait;
}

void HeadWatch::call(std::unique_lock<std::mutex>& lock, Ticket ticket, const std::function<void(Wait&)>& how) {
  auto wait = take(ticket);
  if (!wait) return;
  calling_ = ticket;
  lock.unlock();
  how(*wait);
  wait.reset();
  lock.lock();
  calling_.reset();
  changed_.notify_all();
}

void HeadWatch::end_reached(std::unique_lock<std::mutex>& lock, GlobalPosition head) {
  while (!by_position_.empty() && by_position_.begin()->first <= head) {
    call(lock, by_position_.begin()->second, [&](Wait& wait) { wait.reached(head); });
  }
}

void HeadWatch::look_at_new_events(std::unique_lock<std::mutex>& lock, GlobalPosition head) {
  const auto from = looked_at_;
  std::unordered_set<Ticket> found;
  bool everybody = head - from > looked_at_once_max;
  if (!everybody && interests_.needs_events()) {
    lock.unlock();
    std::vector<RecordedEvent> events;
    auto stream = store_.read(Query::all(), ReadOptions{.after = from, .up_to = head});
    for (bool complete = false; !complete;) {
      auto page = stream.next_page();
      if (!page) {
        everybody = true;  // whoever reads for itself is told what is wrong
        break;
      }
      complete = page->complete;
      std::move(page->events.begin(), page->events.end(), std::back_inserter(events));
    }
    lock.lock();
    if (looked_at_ != from) return;  // meanwhile all waiters went, and others came that wait from another position
    for (const auto& event : events) interests_.matching(event, found);
  }
  if (everybody) {
    for (const auto ticket : interests_.everybody()) found.insert(ticket);
  }
  looked_at_ = head;
  wake(lock, found, head);
}

/// Those of them who wait from before the head.
void HeadWatch::wake(std::unique_lock<std::mutex>& lock, const std::unordered_set<Ticket>& tickets,
                     GlobalPosition head) {
  for (const auto ticket : std::vector<Ticket>(tickets.begin(), tickets.end())) {
    const auto found = waits_.find(ticket);
    if (found == waits_.end() || found->second.position >= head) continue;
    call(lock, ticket, [&](Wait& wait) { wait.wake(Why::something, wait.position); });
  }
}

void HeadWatch::end_late(std::unique_lock<std::mutex>& lock, GlobalPosition head) {
  const auto now = Clock::now();
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
    const auto looked_at = looked_at_;
    call(lock, by_deadline_.begin()->second, [&](Wait& wait) {
      if (wait.reached) {
        wait.reached(refuse(ErrorCode::timeout, "the watermark is at " + std::to_string(head.value) + ", not yet at " +
                                                    std::to_string(wait.position.value)));
      } else {
        wait.wake(Why::deadline, std::max(looked_at, wait.position));
      }
    });
  }
}

void HeadWatch::end_all(std::unique_lock<std::mutex>& lock) {
  while (!waits_.empty()) {
    call(lock, waits_.begin()->first, [](Wait& wait) {
      if (wait.reached)
        wait.reached(refuse(closing()));
      else
        wait.wake(Why::closing, wait.position);
    });
  }
}

}  // namespace evershard::serving
