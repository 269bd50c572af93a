// GroupState: what a consumer group knows and decides. Input in, deliveries out; no thread, clock, disk or actor.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/group.hpp"
#include "evershard/protocol/kept_place.hpp"
#include "evershard/protocol/kept_reasons.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::actors {

/// Milliseconds from any origin; one that goes back is taken as standing still.
using GroupTime = std::int64_t;
using GroupWorkerId = std::uint64_t;  ///< of one stay of a worker; 0: none

/// A matching event as the group sees it.
struct GroupEvent {
  GlobalPosition position;
  std::uint64_t lane =
      0;  ///< events of one lane are given out in order, one at a time; of a global order all are in one
  EventId id{};
};

/// An event that goes to a worker, who settles it by both numbers.
struct GroupDelivered {
  GroupWorkerId worker = 0;
  GlobalPosition position;
  std::uint64_t delivery = 0;  ///< another one each time it is given out
  std::uint32_t attempt = 1;   ///< from 1
  friend bool operator==(const GroupDelivered&, const GroupDelivered&) = default;
};

struct GroupParked {
  std::uint64_t lane = 0;
  std::uint32_t attempts = 0;
  bool behind = false;  ///< of an earlier one of its lane; never failed itself
  std::uint64_t reason = 0;
  std::int64_t parked_at_ms = 0;  ///< since 1970, of the caller's clock
};

/// What is known of a worker; `share` is what it alone is given.
struct GroupWorkerFigures {
  GroupWorkerId worker = 0;
  std::string name{};
  std::uint32_t credit = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t share = 0;  ///< unsettled events of its aggregates, those in flight included: its lag
  GlobalPosition oldest{};  ///< of them; 0: none
  std::uint64_t acknowledged = 0;
};

/// Since the group was made or reset; kept with its state.
struct GroupCounters {
  std::uint64_t acknowledged = 0;
  std::uint64_t rejected = 0;  ///< by a worker
  std::uint64_t expired = 0;   ///< leases that ran out, workers that were lost
  std::uint64_t parked = 0;
  std::uint64_t replayed = 0;
  std::uint64_t discarded = 0;
  friend bool operator==(const GroupCounters&, const GroupCounters&) = default;
};

/// Every matching event up to read_to() is either unsettled (known here: ready, in flight, waiting for a retry),
/// parked, or settled: acknowledged, or discarded from the parked. What is settled is not remembered one by one: it is
/// what is neither.
///
/// Memory and bytes are bounded: at most `window` events are read ahead of what is settled, at most `parked_max` are
/// parked. Owner: one thread at a time. Source: docs/groups.md
class GroupState {
 public:
  static constexpr std::size_t reasons_bytes_max = 768u << 10;  ///< of all different ones: KeptReasons

  /// A new group that begins behind `start`. `seed`: of the jitter; `deliveries_from`: another one in every process.
  GroupState(GroupSettings settings, GlobalPosition start, std::uint64_t seed, std::uint64_t deliveries_from);

  [[nodiscard]] const GroupSettings& settings() const { return settings_; }
  /// Not the order: that would need other lanes. Where parked ones block from now on, what is not out yet is parked
  /// behind them.
  void change(const GroupSettings& settings, std::int64_t wall_ms);

  // What is read.

  /// How many more events it takes; 0: nothing is to be read until some are settled.
  [[nodiscard]] std::size_t room() const {
    return entries_.size() >= settings_.window ? 0 : settings_.window - entries_.size();
  }
  /// Everything up to here was looked at.
  [[nodiscard]] GlobalPosition read_to() const { return read_to_; }
  /// It began behind this position.
  [[nodiscard]] GlobalPosition start() const { return start_; }
  /// What was found from read_to() up to `to`, in order; what is not behind read_to() is passed over. More than room()
  /// is taken too.
  void read(std::span<const GroupEvent> events, GlobalPosition to, std::int64_t wall_ms);

  // Workers. All of them ask to be called deliver() afterwards.

  GroupWorkerId join(std::string name, std::uint32_t credit, GroupTime now);
  /// It is there: whatever a worker says. Errors: not_found: it was lost
  [[nodiscard]] Result<void> heard(GroupWorkerId worker, GroupTime now);
  /// And its leases begin anew: of these positions; none: of all. Errors: fenced: of some, which it no longer has; the
  /// others are renewed
  [[nodiscard]] Result<void> renew(GroupWorkerId worker, std::span<const GlobalPosition> positions, GroupTime now);
  /// It goes and says so: what it has is given to others, and no attempt is counted.
  void leave(GroupWorkerId worker, GroupTime now);
  /// It is gone: what it has is given to others at once. What it had begun counts as an attempt; of a worker that began
  /// nothing, or does not say so, the one it was given first.
  void lose(GroupWorkerId worker, GroupTime now, std::int64_t wall_ms);
  [[nodiscard]] bool knows(GroupWorkerId worker) const { return workers_.contains(worker); }
  [[nodiscard]] std::size_t workers() const { return workers_.size(); }

  /// What goes out now, to workers with credit, in order of position each.
  [[nodiscard]] std::vector<GroupDelivered> deliver(GroupTime now);
  /// Leases and workers that ran out, retries that are due. Returns: workers that were lost.
  std::vector<GroupWorkerId> tick(GroupTime now, std::int64_t wall_ms);
  /// When tick() has something to do; nothing: nothing is waited for.
  [[nodiscard]] std::optional<GroupTime> next_due() const;

  /// Its worker begins it: its lease begins anew, and that it ends without being settled is an attempt. Errors: fenced,
  /// invalid_argument: as below
  [[nodiscard]] Result<void> begin(GlobalPosition position, std::uint64_t delivery, GroupTime now);

  // Settling. Once settled, it stays so; the same again is answered as the first time.
  //
  // Errors: fenced: the event was given out again, or is parked: it is no longer this delivery that settles it;
  // invalid_argument: nothing
  //         of the kind was ever given out

  /// Also when its lease ran out, as long as nobody else was given it.
  [[nodiscard]] Result<void> acknowledge(GlobalPosition position, std::uint64_t delivery, GroupTime now);
  /// Again later, or, after the last attempt, parked. `after_ms`: the wait; absent: as set.
  [[nodiscard]] Result<void> reject(GlobalPosition position, std::uint64_t delivery, std::string_view reason,
                                    std::optional<std::int64_t> after_ms, GroupTime now, std::int64_t wall_ms);
  /// Errors: overloaded too: no more can be parked; it stays with its worker
  [[nodiscard]] Result<void> park(GlobalPosition position, std::uint64_t delivery, std::string_view reason,
                                  GroupTime now, std::int64_t wall_ms);
  /// It could not be handed over, which is not the event's fault: as if it had not been given out. `wait_ms`: until it
  /// is again; 0: none.
  void take_back(GlobalPosition position, std::uint64_t delivery, std::int64_t wait_ms, GroupTime now);
  /// Its event is not there any more: nothing is left to be done.
  void drop(GlobalPosition position, GroupTime now);

  /// As it was read, of an event that is unsettled or parked. Absent: it is neither, or all are in one lane.
  [[nodiscard]] std::optional<std::uint64_t> lane_of(GlobalPosition position) const;
  /// It is handed over now: its lease begins. Of its worker it says nothing.
  void hand_over(GlobalPosition position, std::uint64_t delivery, GroupTime now);
  /// It is with its worker, by this delivery.
  [[nodiscard]] bool is_out(GlobalPosition position, std::uint64_t delivery) const;

  // Parked ones.

  [[nodiscard]] const std::map<std::uint64_t, GroupParked>& parked() const { return parked_; }
  [[nodiscard]] std::string_view reason_of(const GroupParked& parked) const;
  /// To be given out again, its attempts forgotten; where parked ones block, all of its aggregate. Returns: how many.
  /// Errors: not_found
  [[nodiscard]] Result<std::uint64_t> replay(GlobalPosition position, GroupTime now);
  std::uint64_t replay_all(GroupTime now);
  /// Settled as it is; what was parked behind it alone is given out. Errors: not_found
  [[nodiscard]] Result<std::uint64_t> discard(GlobalPosition position, GroupTime now);
  std::uint64_t discard_all(GroupTime now);
  [[nodiscard]] bool parked_full() const { return parked_.size() >= settings_.parked_max; }

  // Figures.

  /// Everything up to here is settled or parked.
  [[nodiscard]] GlobalPosition position() const {
    return entries_.empty() ? read_to_ : GlobalPosition(entries_.begin()->first - 1);
  }
  [[nodiscard]] std::size_t unsettled() const { return entries_.size(); }
  [[nodiscard]] std::size_t in_flight() const { return in_flight_; }
  [[nodiscard]] std::size_t waiting() const;  ///< for a retry
  [[nodiscard]] const GroupCounters& counters() const { return counters_; }
  [[nodiscard]] std::vector<GroupWorkerFigures> worker_figures() const;

  // Keeping it: group_state_bytes.hpp.

  /// Moves with everything that must be kept before it is answered.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }
  /// Of which history the events were that were read. Without a fork: GroupKept has that.
  [[nodiscard]] const KeptPlace& place() const { return place_; }
  /// The history behind `end` is not the one that was read: begins again behind it.
  void cut_back(GlobalPosition end, GroupTime now);

 private:
  friend class GroupStateBytes;

  struct Entry {
    std::uint64_t lane = 0;
    std::uint32_t attempts = 0;  ///< that ended without being settled
    GroupTime due = 0;           ///< in flight: when the lease ends; else when it may be given out; 0: now
    GroupWorkerId worker = 0;    ///< in flight
    std::uint64_t delivery = 0;  ///< the last
    bool waits = false;          ///< for a retry
    bool begun = false;          ///< in flight: its worker said so
  };
  struct Lane {
    std::set<std::uint64_t> positions;  ///< unsettled
    std::uint64_t in_flight = 0;        ///< 0: none
    std::uint64_t ready = 0;            ///< as it stands in ready_; 0: none
    GroupWorkerId ready_for = 0;
  };
  struct Worker {
    std::string name{};
    std::uint32_t credit = 0;
    GroupTime heard = 0;
    std::set<std::uint64_t> in_flight{};
    std::uint64_t acknowledged = 0;
    bool began = false;  ///< any, and said so
  };
  using Entries = std::map<std::uint64_t, Entry>;

  void see(GroupTime now) { now_ = now > now_ ? now : now_; }
  [[nodiscard]] GroupWorkerId owner_of(std::uint64_t lane) const;
  [[nodiscard]] bool blocked(std::uint64_t lane) const {
    return settings_.after_parked == AfterParked::block && parked_lanes_.contains(lane);
  }
  void refresh(std::uint64_t lane);
  void refresh_all();
  void set_timer(Entries::iterator entry, GroupTime due);
  void clear_timer(Entries::iterator entry);
  /// No longer in flight.
  void land(Entries::iterator entry);
  /// Settled, in whatever way: no longer known.
  void erase(Entries::iterator entry);
  /// In flight: whether it was begun, as far as its worker says so; else whether it is the one that it was given first.
  [[nodiscard]] bool counts(const Entry& entry) const;
  /// In flight, and not settled by its worker: an attempt, if it counts; else as if it had not been given out.
  void expire(Entries::iterator entry, bool counts, std::string_view reason, std::int64_t wall_ms);
  /// An attempt that was none.
  void fail(Entries::iterator entry, std::string_view reason, std::optional<std::int64_t> after_ms,
            std::int64_t wall_ms);
  [[nodiscard]] GroupTime delay_before(std::uint32_t attempt);
  bool try_park(Entries::iterator entry, std::string_view reason, std::int64_t wall_ms);
  /// What waits behind parked ones of its lane, as far as there is room; what is out stays.
  void park_behind(std::uint64_t lane, std::int64_t wall_ms);
  void put_parked(std::uint64_t position, GroupParked parked, std::string_view reason);
  void remove_parked(std::map<std::uint64_t, GroupParked>::iterator parked);
  /// To be given out again.
  void unpark(std::map<std::uint64_t, GroupParked>::iterator parked);
  void remove_worker(std::map<GroupWorkerId, Worker>::iterator worker);
  /// Of an event that is not in flight by this delivery.
  [[nodiscard]] Result<void> answer_late(GlobalPosition position, std::uint64_t delivery) const;

  GroupSettings settings_;
  GlobalPosition start_;
  GlobalPosition read_to_;
  GlobalPosition settled_to_;  ///< the greatest that was ever settled, parked or failed
  GroupTime now_ = 0;
  Entries entries_;
  std::unordered_map<std::uint64_t, Lane> lanes_;
  std::map<GroupWorkerId, Worker> workers_;
  std::map<GroupWorkerId, std::set<std::uint64_t>> ready_;  ///< of each worker; of 0: of nobody
  std::set<std::pair<GroupTime, std::uint64_t>> timers_;
  std::map<std::uint64_t, GroupParked> parked_;
  std::unordered_map<std::uint64_t, std::set<std::uint64_t>> parked_lanes_;
  KeptReasons reasons_{reasons_bytes_max};
  std::size_t in_flight_ = 0;
  std::uint64_t next_delivery_;
  GroupWorkerId last_worker_ = 0;
  std::uint64_t revision_ = 0;
  GroupCounters counters_;
  KeptPlace place_;
  std::mt19937_64 random_;
};

}  // namespace evershard::actors
