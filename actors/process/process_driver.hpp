// ProcessDriver: what becomes of a process: which instance is told which event, which command is sent next, and how far
// all that is.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evershard/actors/model/answer.hpp"
#include "evershard/actors/process/effect_queue.hpp"
#include "evershard/actors/process/process_definition.hpp"
#include "evershard/actors/process/process_door.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"

namespace evershard::actors {

struct ProcessActions {
  /// What an aggregate is to be asked; its answer comes back under the number.
  struct Ask {
    std::uint64_t number = 0;
    AggregateId aggregate;
    std::string type;
    std::string bytes;
    std::string command_id;
    std::optional<AppendCondition> fail_if{};  ///< of what it writes
    std::uint32_t chain = 0;                   ///< how many reactions led to it
    GlobalPosition because{};                  ///< the event that is told, or by which it is wanted
    std::uint64_t read_at = 0;                 ///< as events() was given it with that event
  };
  /// An effect that its handler is to perform; what comes of it comes back under the number.
  struct Perform {
    std::uint64_t number = 0;
    ProcessEffect effect;
    EffectAttempt attempt;
    GlobalPosition because{};  ///< as above
    std::uint64_t read_at = 0;
  };
  std::vector<Ask> asks;
  std::vector<Perform> performs;
  bool over = false;  ///< another driver has taken the process over: this one is to do nothing more
};

/// Events come in the order of their positions: those that the process may react to, the reactions of its instances,
/// and those by which somebody takes it over. An instance is told one event at a time, in that order; its commands are
/// sent one at a time, in the order of its reactions. What fails is tried again, and holds up its own instance only.
///
/// Effects of an instance are performed beside its commands and each other, as many of a kind as its handler takes, and
/// as many of these as their target takes. An instance is told of its effects that are given up, and of its effects
/// that are done, where the process wants to hear of those.
///
/// What somebody wants comes as events too: nothing of an instance that is stopped begins, what is skipped is not done,
/// what is replayed is performed beside all else, and told to its instance where it succeeds.
///
/// How many reactions led to an event stands in its metadata, and goes on with what is asked for its sake. Nothing is
/// told to an instance whose chain is as long as it may be: instances that command each other in a circle come to that.
///
/// What checkpoint() does not say is done is done again when a driver begins: instances know what they reacted to, and
/// commands have ids. Of a command that was rejected it is not known to its aggregate: so none is sent before all
/// rejections are read that an earlier driver had instances react to, and none of those can be behind `taken_at`. Nor
/// does a command whose rejection is reacted to take effect once a later driver has taken the process over: an instance
/// may have reacted to a rejection that this one knows nothing of. Nor is an effect performed before all are read that
/// instances were told of.
///
/// Owner:  one thread at a time. Knows no clock and no store.
class ProcessDriver {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time never = Time::max();

  /// `checkpoint`: as an earlier driver said. `taken_at`: where the event stands by which this driver took the process
  /// over.
  ProcessDriver(std::shared_ptr<const ProcessDefinition> process, ProcessCheckpoint checkpoint, GlobalPosition taken_at,
                ProcessOptions options, std::map<std::string, EffectBounds> effects = {});

  /// Errors: invalid_argument: an option, an effect without a handler
  [[nodiscard]] static Result<void> check(const ProcessDefinition& process, const ProcessOptions& options,
                                          const Effects& effects);
  /// By which somebody takes the process over.
  [[nodiscard]] static Append taking_over(const ProcessDefinition& process);
  /// `$process-NAME`
  [[nodiscard]] static AggregateId log_of(const ProcessDefinition& process);
  /// Matches the events that the driver is to be given.
  [[nodiscard]] static Query query(const ProcessDefinition& process);
  /// By which its former versions begin no further instances; nothing where there are none.
  [[nodiscard]] static std::optional<Append> retiring_others(const ProcessDefinition& process,
                                                             const ProcessOptions& options);
  /// Where that stands. Before anything else.
  void begin_behind(GlobalPosition retired_at);
  /// Nothing is told before its former versions have told their instances everything up to there.
  [[nodiscard]] bool waits_for_others() const { return others_at_ < begins_behind_; }
  /// How far all of them are.
  void others_are_at(GlobalPosition position, Time now, ProcessActions& actions);
  /// Too much is under way, or waits to be tried again, which is ten times as much. Once it was, for so long that what
  /// is read next is worth the while.
  [[nodiscard]] bool is_full();
  /// `read_to`: every event up to there was given by now. `read_at`: comes with all actions that these events cause.
  void events(const std::vector<RecordedEvent>& events, GlobalPosition read_to, Time now, ProcessActions& actions,
              std::uint64_t read_at = 0);
  void answered(std::uint64_t number, const AnyAnswer& answer, Time now, ProcessActions& actions);
  /// What came of an attempt. One that is too late is passed over.
  void performed(std::uint64_t number, const Result<std::string>& answer, Time now, ProcessActions& actions);
  /// What was to be asked or performed was not: the event by which it was is removed or erased. It is passed over.
  void gone(std::uint64_t number, Time now, ProcessActions& actions);
  /// What is to be tried again, is; attempts that say nothing end. Due at wake_at().
  void timer(Time now, ProcessActions& actions);
  [[nodiscard]] Time wake_at() const;

  /// What somebody wants. In the order of positions, each once or more; what was wanted up to the checkpoint's
  /// controls_to is known. A replay goes on with replay().
  void control(const RecordedEvent& event, Time now, ProcessActions& actions);
  /// Effects that were given up and are to be performed once more: of each, the event that wants it is to be looked up.
  [[nodiscard]] std::vector<ProcessReplay> replays_to_begin();
  /// `reaction`: the event that wants the effect, as it is stored. An effect that the event does not have any more is
  /// not performed.
  void replay(const ProcessReplay& replay, const Result<RecordedEvent>& reaction, Time now, ProcessActions& actions,
              std::uint64_t read_at = 0);

  /// Everything up to its position is done. Without `runs_at`.
  [[nodiscard]] ProcessCheckpoint checkpoint() const;
  /// `runs_here`, `type` too.
  [[nodiscard]] ProcessStatus status() const;

 private:
  enum class Kind : std::uint8_t { told, sent, effect };
  /// One event: an instance is told it, or sends what it wants; or one effect of it.
  struct Item {
    Kind kind = Kind::told;
    GlobalPosition position{};
    RecordedEvent event{};                   ///< told
    std::vector<ProcessCommand> commands{};  ///< sent
    std::uint32_t next = 0;                  ///< of these; effect: its number
    std::uint32_t others_asked = 0;          ///< told: former versions that do not know its instance
    bool rejected = false;                   ///< that one was, and its instance is told
    std::string reason{};
    std::uint32_t chain = 0;  ///< how many reactions led to the event
    std::size_t bytes = 0;
    std::uint64_t read_at = 0;                     ///< as events() was given it
    std::string instance{};                        ///< effect: whose
    EventId reaction{};                            ///< effect: the event that wants it
    ProcessEffect effect{};                        ///< effect
    std::string target{};                          ///< effect: whom it is for, as it was queued
    GlobalPosition replayed{};                     ///< effect: by which control; 0: it was not given up yet
    bool untold = false;                           ///< effect: its instance is not told the outcome any more
    std::optional<Result<std::string>> outcome{};  ///< effect: its instance is told
  };
  struct Lane {
    std::deque<Item> items{};
    bool busy = false;
    bool waits = false;    ///< to be tried again
    bool held_up = false;  ///< that, or stopped: it takes no room from others
    std::uint32_t failures = 0;
    std::uint32_t attempts = 0;  ///< of an effect
    std::string why{};           ///< it waits
  };
  using LaneId =
      std::pair<Kind, std::string>;  ///< of an instance; "": of events of which it is not known whose they are
  struct IdHash {
    std::size_t operator()(const LaneId& id) const {
      return std::hash<std::string>{}(id.second) * 4 + static_cast<std::size_t>(id.first);
    }
  };

  void take(const RecordedEvent& event);
  void take_reaction(const RecordedEvent& event);
  void add(LaneId id, Item item);
  void start(const LaneId& id, Time now, ProcessActions& actions);
  /// It begins, or waits for others of its kind.
  void perform(const LaneId& id, Lane& lane, Time now, ProcessActions& actions);
  /// Those of the kind that may.
  void begin_attempts(const std::string& type, Time now, ProcessActions& actions);
  void attempt_failed(const Error& why, Lane& lane, Time now, const LaneId& id);
  [[nodiscard]] bool goes_in_a_circle(const LaneId& id, const Item& item, Time now);
  [[nodiscard]] std::optional<ProcessActions::Ask> ask_of(const LaneId& id, Item& item, Time now);
  [[nodiscard]] ProcessActions::Ask tell(const std::string& key, const Item& item) const;
  [[nodiscard]] std::optional<ProcessActions::Ask> what_to_ask(const LaneId& id, Item& item, Time now);
  void told(const AnyAnswer& answer, Lane& lane, Time now, const LaneId& id);
  void told_outcome(const AnyAnswer& answer, Lane& lane, Time now, const LaneId& id);
  void sent(const AnyAnswer& answer, Lane& lane, Time now, const LaneId& id, ProcessActions& actions);
  void done(Lane& lane);
  void failed(const std::string& why, Lane& lane, Time now, const LaneId& id);
  void failed(const Error& why, Lane& lane, Time now, const LaneId& id);
  void failed(const std::string& why, std::chrono::milliseconds wait_most, Lane& lane, Time now, const LaneId& id);
  /// The lane of what was asked or performed under this number, which is not busy any more. Nothing: nobody waits.
  [[nodiscard]] std::optional<LaneId> let_go(std::uint64_t number);
  void try_again(const std::string& why, std::chrono::milliseconds wait, Lane& lane, Time now, const LaneId& id);
  [[nodiscard]] bool knows_rejections() const { return read_to_ >= taken_at_; }
  [[nodiscard]] GlobalPosition position() const;
  /// By an earlier driver: a part of an event, as ProcessPartsDone counts them.
  [[nodiscard]] bool is_done(GlobalPosition position, std::uint32_t part) const;
  [[nodiscard]] const std::string& instance_of(const LaneId& id, const Lane& lane) const {
    return id.first == Kind::effect ? lane.items.front().instance : id.second;
  }
  [[nodiscard]] bool is_stopped(const LaneId& id, const Lane& lane) const {
    return controls_.stopped || controls_.stopped_instances.contains(instance_of(id, lane));
  }
  /// What the first item is about to do is to be passed over: it is. Returns: it was.
  bool skip(const LaneId& id, Lane& lane);
  void hold_up(Lane& lane, bool held_up);
  void start_stopped(Time now, ProcessActions& actions);
  /// Those lanes of which something waits to be tried again, at once, as if it had never failed.
  template <class Which>
  void try_now(Which which, Time now, ProcessActions& actions);
  [[nodiscard]] static ProcessPlace place_of(const LaneId& id, const Item& item);
  [[nodiscard]] ProcessFailing failing(const LaneId& id, const Lane& lane) const;
  [[nodiscard]] AggregateId instance(const std::string& key) const { return {process_->type, key}; }

  const std::shared_ptr<const ProcessDefinition> process_;
  const GlobalPosition taken_at_;
  const AppendCondition taken_over_;  ///< by somebody later
  const ProcessOptions options_;
  const std::map<std::string, EffectBounds> effects_;
  GlobalPosition read_to_;
  std::unordered_map<LaneId, Lane, IdHash> lanes_;
  struct Open {
    std::uint32_t left = 0;  ///< items
    ProcessPartsDone done{};
  };
  std::map<GlobalPosition, Open> open_;  ///< events that are not done with
  GlobalPosition known_to_;              ///< an earlier driver was done with everything up to there, but for:
  std::map<GlobalPosition, ProcessPartsDone> known_open_;  ///< behind read_to_
  std::size_t waiting_ = 0;
  std::size_t waiting_bytes_ = 0;
  std::size_t told_waiting_ = 0;
  std::size_t held_up_ = 0;       ///< of waiting_: in lanes that are
  std::size_t told_held_up_ = 0;  ///< of told_waiting_
  bool full_ = false;
  std::set<std::pair<GlobalPosition, std::uint32_t>> rejected_;   ///< commands whose instances know that they were
  std::set<std::pair<GlobalPosition, std::uint32_t>> performed_;  ///< effects whose instances know what became of them
  std::vector<LaneId> touched_;                                   ///< by the events that are being taken
  std::vector<LaneId> held_;                                      ///< until all rejections are known
  std::vector<LaneId> held_told_;                                 ///< until its former versions are that far
  GlobalPosition begins_behind_;
  GlobalPosition others_at_;
  std::map<std::string, EffectQueue> queues_;     ///< per kind of effect: the lanes that want attempts
  std::multimap<Time, std::uint64_t> deadlines_;  ///< of attempts, by their numbers
  std::unordered_map<std::uint64_t, LaneId> asked_;
  std::uint64_t number_ = 0;
  std::uint64_t read_at_ = 0;  ///< of the events that are being taken
  std::multimap<Time, LaneId> retries_;
  ProcessCheckpoint controls_;      ///< of it: what is wanted
  std::set<LaneId> stopped_lanes_;  ///< that would begin if they might
  std::vector<ProcessReplay> to_replay_;
  ProcessStatus figures_;
};

}  // namespace evershard::actors
