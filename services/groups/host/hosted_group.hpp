// HostedGroup: one life of a group: its state, what is read for it, who waits for it to be kept. Ends when it is
// dropped, reset or moves away.

#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/api/event_store.hpp"
#include "evershard/api/passing_feed.hpp"
#include "evershard/services/groups/group_state.hpp"
#include "evershard/services/groups/host/group_host_options.hpp"
#include "evershard/services/groups/host/group_spec.hpp"

namespace evershard::cluster {

/// Tells the host's threads that there is something to do. Outlives the host: groups and sessions share it.
struct GroupBell {
  std::mutex mutex;
  std::condition_variable rung;
  bool work = false;  ///< to be read, given out, looked at
  bool keep = false;  ///< to be written
  bool stopping = false;
  std::size_t sessions = 0;  ///< while there is none, nothing is read
  void ring(bool GroupBell::*what) {
    const std::lock_guard lock(mutex);
    this->*what = true;
    rung.notify_all();
  }
};

[[nodiscard]] actors::GroupTime group_time();  ///< milliseconds of a clock that never goes back
[[nodiscard]] std::int64_t group_wall_ms();    ///< since 1970

class HostedGroup {
 public:
  /// What it needs from outside. Owner: store and bell outlive its work; see end().
  struct Parts {
    EventStore& store;
    std::shared_ptr<GroupBell> bell;
    GroupHostOptions options;
    AggregateId aggregate;
    std::uint64_t term = 0;  ///< as GroupHostOptions::at_home said it when this was loaded
  };
  HostedGroup(Parts parts, GroupSpec spec, SeqNr version, actors::GroupState state);

  // From any thread.
  /// Older than what is there: nothing.
  void change(const GroupSpec& spec, SeqNr version);
  [[nodiscard]] GroupInfo info(GlobalPosition head) const;
  /// Errors: of reading the events
  [[nodiscard]] Result<std::vector<ParkedEvent>> parked(GlobalPosition after, std::size_t limit) const;
  [[nodiscard]] Result<std::uint64_t> replay(std::optional<GlobalPosition> position);
  [[nodiscard]] Result<std::uint64_t> discard(std::optional<GlobalPosition> position);
  /// Nothing is done any more; everybody is told why.
  void end(const Error& why);

  // Of a session.
  [[nodiscard]] Result<actors::GroupWorkerId> join(const GroupJoin& join, std::function<void()> wake);
  /// `heard`: the worker asks itself; else somebody asks on its behalf, and its lease goes on. An event that cannot be
  /// read just now is given out again later, and is the group's trouble until then. Waits for one such event at most.
  ///
  /// Errors: as GroupSession::take; where an event is damaged (corruption, io), the worker is still there
  [[nodiscard]] Result<std::vector<GroupDelivery>> take(actors::GroupWorkerId worker, std::size_t most,
                                                        bool heard = true);
  void settle(actors::GroupWorkerId worker, const std::vector<GroupSettlement>& settlements, GroupSettled done);
  [[nodiscard]] Result<void> renew(actors::GroupWorkerId worker, std::vector<GlobalPosition> positions);
  [[nodiscard]] Result<void> alive(actors::GroupWorkerId worker);
  void leave(actors::GroupWorkerId worker, bool lost);
  [[nodiscard]] std::chrono::milliseconds lease() const;
  [[nodiscard]] std::uint64_t term() const { return parts_.term; }

  // Of the host's threads, one each.
  /// Reads and gives out what there is. Returns: when to look again at the latest.
  actors::GroupTime work();
  /// Begins to write its state, where that changed, and answers who waits for it once it is written: a large one not
  /// all the time (pace_behind()), unless it is for the last time. The bell is rung when it is. Returns: as work().
  actors::GroupTime keep(bool finally = false);
  /// keep(), for the last time, until all is written or the time has come.
  void finish_keeping(actors::GroupTime until);

 private:
  struct Member {
    std::function<void()> wake;
    std::deque<actors::GroupDelivered> queue;  ///< given to it, not taken yet
    actors::GroupTime renewed = 0;
  };
  using Members = std::map<actors::GroupWorkerId, Member>;
  using Lock = std::unique_lock<std::mutex>;
  using Answer = std::function<void(const Result<void>&)>;

  [[nodiscard]] Result<Member*> member(actors::GroupWorkerId worker);
  /// Gives out what can be, leaves the lock and wakes who has got something.
  void deliver(Lock& lock);
  void forget(actors::GroupWorkerId worker);
  void renew_queue(actors::GroupWorkerId worker, Member& member);
  [[nodiscard]] Result<void> settle_one(const GroupSettlement& settlement);
  /// Answers who waits for what is being written, where its outcome is known, or its time is over. Returns: when to
  /// look again at the latest; nothing: nothing is under way.
  [[nodiscard]] std::optional<actors::GroupTime> look_at_written();
  /// Answered when everything up to now is kept.
  void when_kept(Answer answer);
  template <class Change>
  Result<std::uint64_t> change_parked(Change change);
  [[nodiscard]] bool reads() const;
  bool read_page(Lock& lock);
  /// When how far it looked is to be kept, where nothing else is; past: now.
  [[nodiscard]] actors::GroupTime keep_next() const;
  [[nodiscard]] std::uint64_t rewritten() const { return parts_.options.rewritten ? parts_.options.rewritten() : 0; }
  /// What was read before something was removed or erased is not given out as it is.
  void drop_outdated();
  /// `read_at`: rewritten() before they were read
  void cache(std::vector<RecordedEvent> events, std::uint64_t read_at);
  void uncache(GlobalPosition position);
  [[nodiscard]] std::uint64_t lane_of(const RecordedEvent& event) const;
  [[nodiscard]] Result<RecordedEvent> read_again(GlobalPosition position, std::optional<std::uint64_t> hash) const;
  [[nodiscard]] Result<std::optional<RecordedEvent>> fetch(GlobalPosition position,
                                                           std::optional<std::uint64_t> hash) const;
  /// Under the lock. Returns: how long it waits
  [[nodiscard]] std::int64_t note_unread(GlobalPosition position, const Error& why, actors::GroupTime began);

  const Parts parts_;
  mutable std::mutex mutex_;
  GroupSpec spec_;
  SeqNr version_;
  actors::GroupState state_;
  std::optional<Error> ended_;
  Members members_;
  std::vector<std::function<void()>> wakes_;  ///< to be called without the lock
  std::map<GlobalPosition, RecordedEvent> cache_;
  std::uint64_t cached_at_ = 0;  ///< rewritten() before any of it was read
  std::size_t cached_bytes_ = 0;
  std::vector<Answer> waiting_;
  std::vector<Answer> being_kept_;  ///< for what is being written
  std::uint64_t kept_revision_;
  GlobalPosition kept_read_to_;
  actors::GroupTime kept_at_ = 0;
  actors::GroupTime keep_again_ = 0;  ///< after a failure
  actors::GroupTime pace_until_ = 0;
  std::string keep_trouble_, read_trouble_;
  PassedOver passed_over_;                        ///< since it is hosted here
  std::map<GlobalPosition, std::string> unread_;  ///< unsettled events that could not be read again, and why
  actors::GroupTime read_again_ = 0;
  std::optional<EventFeed> feed_;  ///< the working thread's alone
  struct Outcome {
    std::optional<Result<void>> kept{};  ///< under the bell's mutex
  };
  struct Writing {
    std::shared_ptr<Outcome> outcome;
    std::uint64_t revision = 0;
    GlobalPosition read_to{};
    std::size_t bytes = 0;
    std::shared_ptr<std::atomic<std::size_t>> written{};  ///< of them: Snapshot::bytes_written
    actors::GroupTime until = 0;
  };
  std::optional<Writing> writing_;  ///< the keeping thread's alone
};

}  // namespace evershard::cluster
