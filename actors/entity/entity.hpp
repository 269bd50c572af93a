// Entity: the decisions of one live aggregate: commands and results in, appends and answers out.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "evershard/actors/entity/ask_list.hpp"
#include "evershard/actors/entity/decision_read.hpp"
#include "evershard/actors/entity/entity_actions.hpp"
#include "evershard/actors/entity/hosted_kind.hpp"
#include "evershard/actors/entity/replay.hpp"

namespace evershard::actors {

/// One aggregate, from its first command until it is passive again.
///
/// Commands are decided one at a time in order of arrival, and stand in the order of their decisions, each over the
/// state that the ones before it leave, also while those are being written. What is answered waits until what it saw is
/// durable. An append that is refused takes with it what was decided behind it: the state is discarded, everything
/// under way is waited for, the aggregate is loaded again, and what is not answered is decided again in order. After an
/// append whose outcome is unknown nothing is decided again: what is unanswered is answered so.
///
/// A command that asks something outside is set aside until it is answered: those behind it are decided meanwhile, and
/// it is decided on the state of then, as the next one behind all that were. One with the id of a command that is set
/// aside waits until that one is decided.
///
/// A command id: the store itself refuses one that is stored (duplicate_event), so a command that persists is not
/// looked up before; anything else it would be answered with is held back until a look-up has said that it is not
/// stored. One that was sent lately (RecentCommands), and every one for a while after a duplicate, is looked up first,
/// and so is what asks outside.
///
/// Owner:  one thread at a time. Knows no clock: `now` is given with every input; timer() is due at wake_at().
/// Cost:   about 300 bytes and the state; an ask about 500 bytes until it is answered.
class Entity {
 public:
  enum class Phase : std::uint8_t {
    passive,  ///< no state; perhaps a pause after a failure
    wanting,  ///< wants a recovery permit
    loading,
    live,
    draining,  ///< the state was discarded; appends under way are waited for
  };

  /// `hosted` and `share` outlive it.
  Entity(EntityPlace place, AggregateId id, const HostedKind& hosted, EntityShare& share);

  void ask(Asked&& asked, SteadyTime now, EntityActions& actions);
  /// The caller went away: `cancelled` now, nothing later. What was not sent is dropped. Returns: whether it was there.
  bool cancel(AskTicket ticket, SteadyTime now, EntityActions& actions);

  /// The permit is there. Shape: wanting.
  void load(SteadyTime now, EntityActions& actions);
  void loaded(std::uint64_t number, Result<Replayed> result, SteadyTime now, EntityActions& actions);
  void model_read(std::uint64_t number, Result<DecisionRead> result, SteadyTime now, EntityActions& actions);
  void prepared(std::uint64_t number, Result<std::string> answer, SteadyTime now, EntityActions& actions);
  void looked_up(std::uint64_t number, Result<std::optional<RecordedCommand>> result, SteadyTime now,
                 EntityActions& actions);
  void appended(std::uint64_t number, Result<Appended> result, SteadyTime now, EntityActions& actions);
  void snapshot_written(std::uint64_t number, Result<void> result, SteadyTime now, EntityActions& actions);

  /// Ends what has waited for too long, begins what was to wait. Any time; due at wake_at().
  void timer(SteadyTime now, EntityActions& actions);
  [[nodiscard]] SteadyTime wake_at() const { return wake_at_; }

  /// Gives its state up once everything asked so far is answered; what is asked meanwhile goes to its next life.
  void passivate();
  /// passivate(), if something of the state may be somebody's.
  void passivate_of_subjects();
  /// Answers what was not sent with `unavailable`, and all that comes; what was sent is waited for.
  void stop(SteadyTime now, EntityActions& actions);
  /// stop(), and what was sent is not waited for: `timeout`.
  void abandon(SteadyTime now, EntityActions& actions);

  [[nodiscard]] const AggregateId& id() const { return id_; }
  [[nodiscard]] std::size_t id_hash() const { return id_hash_; }
  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] std::size_t asks() const { return asks_.size(); }
  /// The entity is live and has nothing to do: it can be given up at once.
  [[nodiscard]] bool idle() const { return phase_ == Phase::live && asks_.empty(); }
  /// Holds nothing that has to be remembered.
  [[nodiscard]] bool gone(SteadyTime now) const {
    return phase_ == Phase::passive && asks_.empty() && (stopping_ || now >= forget_at_);
  }
  [[nodiscard]] SeqNr version() const { return version_; }

 private:
  enum class Ends : std::uint8_t { again, unknown };  ///< what follows when every operation under way has come back

  // entity.cpp
  [[nodiscard]] std::optional<Error> unacceptable(const Asked& asked, SteadyTime now) const;
  void refuse_at_once(AskTicket ticket, Error error, EntityActions& actions);
  void run(SteadyTime now, EntityActions& actions);
  void load_failed(const Error& error, SteadyTime now, EntityActions& actions);
  void expire(SteadyTime now, EntityActions& actions);
  void pause(SteadyTime now);
  void wake(SteadyTime at) { wake_at_ = at < wake_at_ ? at : wake_at_; }
  void reconsider_wake(SteadyTime now);
  void give_up(Ask& ask, ErrorCode code, const std::string& why, EntityActions& actions);
  void give_up_all(ErrorCode code, const std::string& why, EntityActions& actions);
  [[nodiscard]] Ask* find(std::uint64_t number) const;
  [[nodiscard]] EntityOp begin(Ask& ask);
  void tell(Ask& ask, AnyAnswer answer, EntityActions& actions);
  void remove(Ask& ask);

  // entity_decide.cpp
  void advance(SteadyTime now, EntityActions& actions);
  void decide(Ask& ask, SteadyTime now, EntityActions& actions);
  void decide_state(Ask& ask, EntityActions& actions);
  [[nodiscard]] bool named(const Ask& ask) const;
  /// Behind everything that is decided: what is answered when, goes by that.
  void move_behind_decided(Ask& ask);
  [[nodiscard]] bool check_id(Ask& ask, EntityActions& actions);
  [[nodiscard]] bool joins(Ask& ask, EntityActions& actions);
  /// Those that wait for a command of the same id that is decided, or gone, wait no longer.
  void wait_no_longer();
  [[nodiscard]] bool is_open(const Ask& ask) const;
  [[nodiscard]] bool prepare(Ask& ask, EntityActions& actions);
  [[nodiscard]] bool read_model(Ask& ask, EntityActions& actions);
  void persist(Ask& ask, evershard::Decision&& decision, SteadyTime now, EntityActions& actions);
  [[nodiscard]] Result<std::string> apply(const evershard::Decision& decision);
  [[nodiscard]] Result<std::string> reply_of(const evershard::Decision& decision) const;
  void add_snapshot(bool asked_for, Append& append);
  void hold(Ask& ask, AnyAnswer answer, EntityActions& actions);
  void look_up(Ask& ask, EntityActions& actions);

  // entity_outcome.cpp
  void refused(Ask& ask, Error&& error, SteadyTime now, EntityActions& actions);
  [[nodiscard]] bool again(Ask& ask, const Error& error, bool first, SteadyTime now);
  void discard();
  static void undecide(Ask& ask);
  static void undecide_behind(const Ask& ask);
  void settle(SteadyTime now, EntityActions& actions);
  void release(Ask& ask, EntityActions& actions);
  void drained(SteadyTime now, EntityActions& actions);
  [[nodiscard]] bool any_waiting() const;
  [[nodiscard]] bool may_leave() const;
  void leave();

  const EntityPlace place_;
  Phase phase_ = Phase::passive;
  Ends ends_ = Ends::again;
  bool stopping_ = false;
  bool leaving_ = false;
  bool of_subjects_ = false;    ///< something of state_ is somebody's
  bool snapshot_owed_ = false;  ///< more was replayed than the policy likes
  std::uint8_t failures_ = 0;   ///< in a row: of writes or loads
  std::uint16_t doubts_ = 0;
  std::uint32_t in_flight_ = 0;
  std::uint32_t preparing_ = 0;  ///< ask outside, or have asked and are not decided
  std::uint32_t joining_ = 0;    ///< of the same ids, and wait for those
  const AggregateId id_;
  const std::size_t id_hash_;
  const HostedKind& hosted_;
  EntityShare& share_;

  StatePtr state_;               ///< provisional: with everything decided
  SeqNr version_;                ///< of state_
  SeqNr snapshot_version_;       ///< of the newest snapshot known
  GlobalPosition position_;      ///< of the last settled event
  std::uint64_t loaded_at_ = 0;  ///< AggregateJournal::erasures() before state_ was loaded
  std::uint64_t writer_ = 0;     ///< this incarnation's name in chains of appends

  AskList asks_;
  Ask* next_ = nullptr;  ///< the first question that may have to be decided
  std::uint64_t order_ = 0;
  std::uint64_t leave_behind_ = 0;  ///< leaving: the last one asked before
  std::uint64_t number_ = 0;        ///< of operations
  std::uint64_t load_number_ = 0;
  std::unique_ptr<Error> sick_;  ///< stored events cannot be used: answered at once while pausing

  SteadyTime load_until_ = never;
  SteadyTime retry_at_ = SteadyTime::min();
  SteadyTime pause_until_ = SteadyTime::min();
  SteadyTime forget_at_ = SteadyTime::min();  ///< that it failed
  SteadyTime wake_at_ = never;
};

}  // namespace evershard::actors
