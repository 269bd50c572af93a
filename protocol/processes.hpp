// Processes: what their instances are told and say, as bytes. Names that begin with '$' are the store's own.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/kept_place.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

inline constexpr std::string_view process_event_type = "$ProcessEvent";  ///< these four are commands
inline constexpr std::string_view process_timer_type = "$ProcessTimer";
inline constexpr std::string_view process_rejection_type = "$ProcessRejection";
inline constexpr std::string_view process_performed_type = "$ProcessPerformed";
inline constexpr std::string_view process_known_type = "$ProcessKnown";      ///< a command too: it only looks
inline constexpr std::string_view process_reacted_type = "$ProcessReacted";  ///< these three are events
inline constexpr std::string_view process_taken_type = "$ProcessTaken";
inline constexpr std::string_view process_controlled_type = "$ProcessControlled";  ///< of `$process-NAME` alone
inline constexpr std::string_view process_retired_type = "$ProcessRetired";        ///< the same
/// `$process-NAME`: who runs the process, and how far it is.
inline constexpr std::string_view process_log_type = "$process";

/// Every reaction of the process's instances has it, and every event that says who runs it.
[[nodiscard]] Tag process_tag(std::string_view process);

/// An event that an instance may react to. Of the event: what a handler may look at.
struct ProcessEvent {
  RecordedEvent event;
  bool begins_none = false;  ///< only an instance that is there already reacts to it
  friend bool operator==(const ProcessEvent&, const ProcessEvent&) = default;
};
struct ProcessTimer {
  std::string type;
  std::string payload;
  friend bool operator==(const ProcessTimer&, const ProcessTimer&) = default;
};
/// Whether the instance ever reacted to anything.
struct ProcessKnown {
  friend bool operator==(const ProcessKnown&, const ProcessKnown&) = default;
};
struct ProcessKnownAnswer {
  bool known = false;
  friend bool operator==(const ProcessKnownAnswer&, const ProcessKnownAnswer&) = default;
};
/// What an instance wants an aggregate to be asked.
struct ProcessCommand {
  AggregateId aggregate;
  std::string type;
  std::string payload;
  friend bool operator==(const ProcessCommand&, const ProcessCommand&) = default;
};
/// What an instance wants done outside.
struct ProcessEffect {
  std::string type;
  std::string payload;
  friend bool operator==(const ProcessEffect&, const ProcessEffect&) = default;
};
struct ProcessPerformed {
  GlobalPosition reaction;   ///< of the event that wants it
  std::uint32_t number = 0;  ///< in that event
  ProcessEffect effect;
  bool done = false;
  std::string answer;  ///< done
  std::string reason;  ///< given up
  friend bool operator==(const ProcessPerformed&, const ProcessPerformed&) = default;
};
struct ProcessRejection {
  GlobalPosition reaction;   ///< of the event that wants it
  std::uint32_t number = 0;  ///< in that event
  ProcessCommand command;
  std::string reason;
  Tag tag;                  ///< of the process
  GlobalPosition taken_at;  ///< of the event by which the sender took it over
  friend bool operator==(const ProcessRejection&, const ProcessRejection&) = default;
};
struct ProcessReacted {
  enum class Cause : std::uint8_t { event = 1, timer = 2, rejection = 3, performed = 4, not_performed = 5 };
  Cause cause = Cause::event;
  GlobalPosition position;   ///< of the event; of the reaction that sent what was rejected, or wanted what was
                             ///< performed or not; 0 for a timer
  std::uint32_t number = 0;  ///< of that command or effect
  std::string type;          ///< of the event, the timer, the command or the effect
  std::vector<ProcessCommand> commands{};
  bool ended = false;
  std::vector<ProcessEffect> effects{};
  std::string reason{};   ///< not performed
  std::string subject{};  ///< whose data it is; not among its bytes
  friend bool operator==(const ProcessReacted&, const ProcessReacted&) = default;
};
/// What a process has to do: tell an instance an event, send a command, have an effect performed.
struct ProcessPlace {
  enum class What : std::uint8_t { event = 1, command = 2, effect = 3 };
  What what = What::event;
  GlobalPosition position{};  ///< of the event; of the reaction that wants the command or effect
  std::uint32_t number = 0;   ///< of these in that, from 0
  /// `event/17`, `command/23/0`, `effect/23/1`
  [[nodiscard]] std::string text() const;
  /// Errors: invalid_argument
  [[nodiscard]] static Result<ProcessPlace> parse(std::string_view text);
  friend auto operator<=>(const ProcessPlace&, const ProcessPlace&) = default;
};

/// What somebody wants of who runs a process.
struct ProcessControl {
  enum class Action : std::uint8_t {
    stop = 1,
    resume = 2,
    retry = 3,   ///< commands and effects that wait for another try are tried at once
    skip = 4,    ///< an event is not told, a command not sent, an effect not performed
    replay = 5,  ///< an effect that was given up is performed once more
  };
  Action action = Action::stop;
  std::string instance{};  ///< stop, resume, retry: empty: all; skip, replay: empty
  ProcessPlace place{};    ///< skip, replay
  friend bool operator==(const ProcessControl&, const ProcessControl&) = default;
};
/// What an instance waits for, to be tried again.
struct ProcessFailing {
  std::string instance{};  ///< empty: of an event of which it could not be said whose it is
  ProcessPlace place{};
  std::string type{};
  std::uint32_t attempts = 0;
  std::string why{};
  friend bool operator==(const ProcessFailing&, const ProcessFailing&) = default;
};
inline constexpr std::size_t process_failures_max = 100;  ///< that a checkpoint names
struct ProcessReplay {
  ProcessPlace effect{};
  GlobalPosition control{};  ///< of the event that wants it
  friend auto operator<=>(const ProcessReplay&, const ProcessReplay&) = default;
};
struct ProcessFigures {
  std::uint64_t waiting = 0;    ///< events, commands and effects under way
  std::uint64_t failing = 0;    ///< of the waiting: to be tried again
  std::uint64_t reacted = 0;    ///< events that instances were told, since it runs there
  std::uint64_t sent = 0;       ///< commands that were answered
  std::uint64_t rejected = 0;   ///< of these
  std::uint64_t performed = 0;  ///< effects
  std::uint64_t given_up = 0;   ///< effects
  std::uint64_t failed = 0;     ///< tries
  std::uint64_t damaged = 0;    ///< events that cannot be read and were passed over
  friend bool operator==(const ProcessFigures&, const ProcessFigures&) = default;
};
/// Of an event that is not done with: which of its parts are. 0: its commands; n + 1: its effect n.
using ProcessPartsDone = std::set<std::uint32_t>;
inline constexpr std::size_t process_open_max = 20'000;  ///< events of which a checkpoint says that

/// The position of a process, the orders of operators that are in force, and the figures of the process.
struct ProcessCheckpoint {
  GlobalPosition position{};     ///< events up to it are reacted to, their commands and effects done
  GlobalPosition controls_to{};  ///< orders up to here are part of the fields that follow
  bool stopped = false;
  std::set<std::string> stopped_instances{};
  std::set<ProcessPlace> skipped{};   ///< behind `position`
  std::set<ProcessReplay> replays{};  ///< not done yet
  GlobalPosition read_to{};           ///< this field and those below: for people who look at the process
  ProcessFigures figures{};
  std::vector<ProcessFailing> failures{};  ///< at most process_failures_max
  std::string trouble{};                   ///< of what was tried last, or why nothing goes on; empty: none
  std::string runs_at{};
  GlobalPosition retired_at{};  ///< no event behind it begins an instance: a later version has those. 0: any
  bool ended = false;           ///< who ran it has ended in order
  KeptPlace place{};            ///< of which history all that is
  GlobalPosition done_to{};     ///< everything up to it is done too, but for `open`: what one stuck item holds up
  std::map<GlobalPosition, ProcessPartsDone> open{};  ///< behind `position`, up to `done_to`; at most process_open_max
  /// What is kept of positions behind this one is of another history, and goes.
  void fall_back(GlobalPosition to);
  friend bool operator==(const ProcessCheckpoint&, const ProcessCheckpoint&) = default;
};
struct ProcessStateBytes {
  std::string state;  ///< the user's
  GlobalPosition reacted_to;
  bool ended = false;
};

/// `$process-NAME`
[[nodiscard]] AggregateId process_log(std::string_view process);
/// By which processes begin no further instances: `successor` has those, of the events behind. The same each time.
[[nodiscard]] Append retiring(const std::vector<std::string>& processes, std::string_view successor);
/// The event by which somebody wants something of who runs the process.
[[nodiscard]] Event controlling(std::string_view process, const ProcessControl& control);

[[nodiscard]] std::string encode(const ProcessEvent& event);
[[nodiscard]] std::string encode(const ProcessTimer& timer);
[[nodiscard]] std::string encode(const ProcessRejection& rejection);
[[nodiscard]] std::string encode(const ProcessPerformed& performed);
[[nodiscard]] std::string encode(const ProcessReacted& reacted);
[[nodiscard]] std::string encode(const ProcessStateBytes& state);
[[nodiscard]] std::string encode(const ProcessControl& control);
[[nodiscard]] std::string encode(const ProcessCheckpoint& checkpoint);
/// Errors: corruption
[[nodiscard]] Result<ProcessEvent> decode_process_event(std::string_view bytes);
[[nodiscard]] Result<ProcessTimer> decode_process_timer(std::string_view bytes);
[[nodiscard]] Result<ProcessRejection> decode_process_rejection(std::string_view bytes);
[[nodiscard]] Result<ProcessPerformed> decode_process_performed(std::string_view bytes);
[[nodiscard]] Result<ProcessReacted> decode_process_reacted(std::string_view bytes);
[[nodiscard]] Result<ProcessStateBytes> decode_process_state(std::string_view bytes);
[[nodiscard]] Result<ProcessControl> decode_process_control(std::string_view bytes);
[[nodiscard]] Result<ProcessCheckpoint> decode_process_checkpoint(std::string_view bytes);

}  // namespace evershard
