// TimerQueue: the timers that are set, by when they are due.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/timers.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard::actors {

/// A timer that is due: where it was set names it, as the aggregate's stream has it.
struct DueTimer {
  TimerKey key;
  GlobalPosition set_at;
  ShardId shard;
  Timestamp due;
  friend bool operator==(const DueTimer&, const DueTimer&) = default;
};

/// A place in the order of a list.
struct DueOrder {
  Timestamp due;
  GlobalPosition set_at;
  TimerKey key;
  [[nodiscard]] std::string text() const;
  /// Errors: invalid_argument: it is no text() of one
  [[nodiscard]] static Result<DueOrder> parse(std::string_view text);
  friend auto operator<=>(const DueOrder&, const DueOrder&) = default;
};

/// Owner:  one thread at a time. Knows no clock.
/// Cost:   some 110 bytes a timer; the logarithm of their number to set, to take.
class TimerQueue {
 public:
  /// In the place of what was set before. What comes twice, or late, changes nothing.
  void set(const DueTimer& timer);
  /// Cancelled or fired by an event at that position.
  void drop(const TimerKey& key, GlobalPosition at);

  /// The time that the first one is due; nothing: none waits.
  [[nodiscard]] std::optional<Timestamp> next();
  /// The timers that are due by `now`, in order of their times, at most `most`. Each timer is under way from then on,
  /// until it is put back, set anew, or dropped.
  [[nodiscard]] std::vector<DueTimer> take(Timestamp now, std::size_t most);
  /// It is to be taken again at that time. Unless it was set anew or dropped meanwhile.
  void put_back(const DueTimer& timer, Timestamp again);
  /// It was taken, and neither put back, nor set anew, nor dropped since.
  [[nodiscard]] bool is_under_way(const DueTimer& timer) const;
  /// The clock that put_back() was told times by was ahead: what was put back is taken again when it is due.
  /// Cost: all are looked at.
  void clock_was_set_back();

  /// In order of when they are due, then of where they were set; behind this one, at most so many. Cost: all are looked
  /// at.
  [[nodiscard]] std::vector<DueTimer> list(std::optional<DueOrder> after, std::size_t most) const;
  /// With those under way.
  [[nodiscard]] std::size_t size() const { return timers_.size(); }

 private:
  struct Timer {
    GlobalPosition set_at;
    Timestamp wait_until;
    Timestamp due;
    ShardId shard;
    bool waits = true;
  };
  struct Waiting {
    Timestamp until;
    TimerKey key;
    friend bool operator>(const Waiting& a, const Waiting& b) {
      return a.until != b.until ? a.until > b.until : a.key > b.key;
    }
  };

  void wait(const TimerKey& key, Timestamp until);
  [[nodiscard]] bool is_stale(const Waiting& waiting) const;
  void pop();

  std::unordered_map<TimerKey, Timer> timers_;
  std::vector<Waiting> heap_;  ///< the earliest first; with some that wait no more
};

}  // namespace evershard::actors
