// Groups: named subscriptions that keep how far they came, shared by workers that come and go.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/api/if_there.hpp"
#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/group.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

struct GroupDefinition {
  std::string name{};
  Query query = Query::all();
  std::optional<GlobalPosition> after =
      GlobalPosition{0};  ///< begins behind it; 0: with the first event; absent: from now on
  GroupSettings settings{};
  friend bool operator==(const GroupDefinition&, const GroupDefinition&) = default;
};

struct GroupMember {
  std::string name{};
  std::uint64_t worker = 0;  ///< another one each time it joins
  std::uint32_t credit = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t share = 0;  ///< its lag: unsettled events of the aggregates that are its own, those in flight included
  GlobalPosition oldest{};  ///< of them; 0: none
  std::uint64_t acknowledged = 0;  ///< since it joined
  friend bool operator==(const GroupMember&, const GroupMember&) = default;
};

/// How a group is.
struct GroupInfo {
  GroupDefinition definition{};  ///< `after`: the position that it began behind
  GlobalPosition position{};     ///< everything up to here is acknowledged, discarded or parked
  GlobalPosition read_to{};      ///< everything up to here was looked at
  GlobalPosition head{};         ///< of the store
  std::uint64_t unsettled = 0;   ///< matching events that are read and not settled: ready, in flight, waiting
  std::uint64_t in_flight = 0;
  std::uint64_t waiting = 0;  ///< for a retry
  std::uint64_t parked = 0;
  bool parked_full = false;  ///< nothing more is parked: what fails is tried again, however often
  // Since it was created or reset:
  std::uint64_t acknowledged = 0;
  std::uint64_t rejected = 0;
  std::uint64_t expired = 0;  ///< leases that ran out, deliveries whose worker was lost
  std::uint64_t parked_ever = 0;
  std::uint64_t replayed = 0;
  std::uint64_t discarded = 0;
  std::uint64_t damaged = 0;  ///< events that cannot be read and were passed over, since it is at this home
  std::vector<GroupMember> workers{};
  std::string trouble{};  ///< why nothing is read or kept just now; empty: nothing is wrong

  /// Positions between what is settled and the head: an upper bound of the events that are still to be settled.
  [[nodiscard]] std::uint64_t lag() const { return head > position ? head - position : 0; }
  friend bool operator==(const GroupInfo&, const GroupInfo&) = default;
};

struct ParkedEvent {
  GlobalPosition position{};
  std::uint32_t attempts = 0;
  bool behind = false;  ///< of an earlier parked one of its aggregate: it never failed itself
  std::string reason{};
  Timestamp parked_at{};
  std::optional<AggregateId> aggregate{};
  std::string type{};  ///< empty: the event is not there any more
  friend bool operator==(const ParkedEvent&, const ParkedEvent&) = default;
};

/// An event that a worker was given. It is its own until it is settled, or its lease ran out.
struct GroupDelivery {
  RecordedEvent event{};
  std::uint64_t delivery = 0;
  std::uint32_t attempt = 1;  ///< from 1
  friend bool operator==(const GroupDelivery&, const GroupDelivery&) = default;
};

struct GroupSettlement {
  enum class Kind : std::uint8_t {
    acknowledge = 0,
    reject = 1,
    park = 2,
    begin = 3
  };  ///< begin: settles nothing; only what was begun, or settled, counts as an attempt
  Kind kind = Kind::acknowledge;
  GlobalPosition position{};
  std::uint64_t delivery = 0;
  std::string reason{};                              ///< of a rejection, of parking; at most 500 bytes are kept
  std::optional<std::chrono::milliseconds> after{};  ///< of a rejection: the wait; absent: as the group's settings say
};

/// One result a settlement, in their order.
using GroupSettled = std::function<void(std::vector<Result<void>>)>;

struct GroupJoin {
  std::string name{};            ///< as it is listed; empty: this machine and process
  std::uint32_t credit = 16;     ///< events that it may have at a time; from 1 to 10,000
  bool begins_with_next = true;  ///< what next() gives is begun; false: begin() says when
};

/// One stay of a worker in a group. Any thread. What a GroupWorker, or a door, is made of.
class GroupSession {
 public:
  virtual ~GroupSession() = default;
  /// What is there for it now, at most so many; does not wait for events, but reads the disk. Says that the worker is
  /// there. Errors: not_found (the worker was lost, the group dropped or reset: join again, or not), unavailable,
  /// corruption, io
  [[nodiscard]] virtual Result<std::vector<GroupDelivery>> take(std::size_t most) = 0;
  /// Answered when it is durable, from any thread; must not block.
  /// Errors of each: fenced (no longer its own: given out again, or parked), overloaded (no more can be parked),
  ///                 invalid_argument, not_found, unavailable, io: the outcome is unknown, the event may come again
  virtual void settle(std::vector<GroupSettlement> settlements, GroupSettled done) = 0;
  /// The worker begins this event; told without waiting for an answer.
  virtual void begin(GlobalPosition position, std::uint64_t delivery) {
    settle({{.kind = GroupSettlement::Kind::begin, .position = position, .delivery = delivery}},
           [](const std::vector<Result<void>>&) {});
  }
  /// Leases begin anew: of these, and of all that was not taken yet. Errors: fenced, not_found, unavailable
  [[nodiscard]] virtual Result<void> renew(const std::vector<GlobalPosition>& positions) = 0;
  /// The worker is there, and what it did not take yet stays its own. Errors: not_found, unavailable
  [[nodiscard]] virtual Result<void> alive() = 0;
  /// Goes; what it has is given to others at once. Any number of times.
  virtual void leave() = 0;
  /// It went without a word: of what it had begun that was an attempt.
  virtual void lose() = 0;
  /// How often something must be heard of a worker, at least.
  [[nodiscard]] virtual std::chrono::milliseconds lease() const = 0;
};

class GroupWorker;

/// Any thread. Source: docs/groups.md
class Groups {
 public:
  virtual ~Groups() = default;

  /// Where one of that name begins is not compared.
  /// Errors: already_exists, invalid_argument (the name, a setting), invalid_query, too_large, version_conflict,
  /// of EventStore::append
  [[nodiscard]] virtual Result<GroupInfo> create_group(GroupDefinition definition, IfThere there = IfThere::refuse) = 0;
  /// Other settings; not the order. What is not named stays, also what somebody else changes at the same time.
  /// Errors: invalid_argument, not_found, version_conflict (changed too often meanwhile)
  [[nodiscard]] virtual Result<GroupInfo> change_group(const std::string& name, const GroupSettingsChange& change) = 0;
  /// Begins anew behind a position (absent: from now on): what was settled, waiting or parked is forgotten, its workers
  /// join again.
  [[nodiscard]] virtual Result<GroupInfo> reset_group(const std::string& name, std::optional<GlobalPosition> after) = 0;
  [[nodiscard]] virtual Result<void> drop_group(const std::string& name) = 0;
  /// In order of name.
  [[nodiscard]] virtual Result<std::vector<GroupInfo>> list_groups() = 0;
  /// Errors: not_found
  [[nodiscard]] virtual Result<GroupInfo> group(const std::string& name) = 0;

  /// In order of position, behind `after`, at most `limit`.
  [[nodiscard]] virtual Result<std::vector<ParkedEvent>> parked_events(const std::string& name, GlobalPosition after,
                                                                       std::size_t limit) = 0;
  /// Gives it out again, with all its attempts; absent: all. Where parked ones block, all of its aggregate. Returns:
  /// how many. Errors: not_found. Durable: on return
  [[nodiscard]] virtual Result<std::uint64_t> replay_parked(const std::string& name,
                                                            std::optional<GlobalPosition> position) = 0;
  /// Settles it as it is; absent: all. Returns: how many. Errors: not_found. Durable: on return
  [[nodiscard]] virtual Result<std::uint64_t> discard_parked(const std::string& name,
                                                             std::optional<GlobalPosition> position) = 0;

  /// `wake`: called when take() may have something new to tell; from any thread, must not block.
  /// Errors: not_found, invalid_argument, unavailable
  [[nodiscard]] virtual Result<std::shared_ptr<GroupSession>> open_session(const std::string& name,
                                                                           const GroupJoin& join,
                                                                           std::function<void()> wake) = 0;
  /// Errors: as open_session()
  [[nodiscard]] Result<GroupWorker> join_group(const std::string& name, GroupJoin join = {});
  /// What is unavailable may be there again in a moment: a worker waits for it.
  [[nodiscard]] virtual bool comes_back() const { return false; }
};

/// A worker of a group: takes events one by one, and settles each. Move-only; one thread, but for cancel(). The store
/// outlives it.
///
///     auto worker = store.groups().join_group("billing").value();
///     while (auto next = worker.next(1s)) {
///       if (!*next) continue;                                    // nothing within a second
///       handle((*next)->event) ? worker.acknowledge(**next) : worker.reject(**next, "no stock");
///     }
///
/// Every call says that it is there. What takes longer than a lease calls renew() now and then, or others are given its
/// events.
class GroupWorker {
 public:
  GroupWorker(Groups& groups, std::string name, GroupJoin join);
  /// leave()
  ~GroupWorker();
  GroupWorker(GroupWorker&&) noexcept;
  GroupWorker& operator=(GroupWorker&&) noexcept;

  /// Waits at most `timeout`; 0: looks. Nothing: there was none. Joins again by itself when it was lost, and waits for
  /// a server that is gone. An event that cannot be read just now comes later, and is in the group's trouble. Errors:
  /// not_found (the group is gone), unavailable (the store in this process was closed), cancelled; corruption, io (an
  ///         event is damaged: others may follow, the worker is still there)
  [[nodiscard]] Result<std::optional<GroupDelivery>> next(std::chrono::milliseconds timeout);
  /// Where next() does not: when the worker is lost, or its lease runs out, an attempt is counted of what was begun. A
  /// second time says nothing more.
  void begin(const GroupDelivery& delivery);
  // Errors of each: see GroupSession::settle. Also once it was cancelled: what was worked on is worth settling.
  [[nodiscard]] Result<void> acknowledge(const GroupDelivery& delivery);
  /// Again later, or parked when that was its last attempt.
  [[nodiscard]] Result<void> reject(const GroupDelivery& delivery, std::string reason,
                                    std::optional<std::chrono::milliseconds> after = {});
  [[nodiscard]] Result<void> park(const GroupDelivery& delivery, std::string reason);
  /// The same without waiting: many are made durable by one write. `done`: from any thread; must not block.
  void settle_async(std::vector<GroupSettlement> settlements, GroupSettled done);
  /// The leases of these begin anew; none: of all that it has.
  [[nodiscard]] Result<void> renew(const std::vector<GlobalPosition>& positions = {});
  /// How long it may say nothing; 30 s where that is not known.
  [[nodiscard]] std::chrono::milliseconds lease() const;
  /// From any thread: a next() under way answers `cancelled` soon, and each next() and renew() from now on. It does not
  /// leave.
  void cancel();
  void leave();

 private:
  friend class Groups;
  struct Shared;
  Result<void> settle(GroupSettlement settlement);
  Result<void> opened();

  std::shared_ptr<Shared> shared_;
};

}  // namespace evershard
