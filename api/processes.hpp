// Processes: what an operator asks of processes and timers, whoever runs them.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/processes.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/timers.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard {

/// How a process was when the program that runs it said so last: every second, where something changed.
struct ProcessInfo {
  std::string name{};
  ProcessCheckpoint state{};
  GlobalPosition head{};               ///< of the store
  std::optional<Timestamp> said_at{};  ///< absent: it said nothing yet
  Timestamp taken_at{};                ///< since when that program runs it
  bool running = false;                ///< it said something in the last half minute, by this clock, and did not end

  /// Positions between what is done and the head: an upper bound of the events that are still to be reacted to.
  [[nodiscard]] std::uint64_t lag() const { return head > state.position ? head - state.position : 0; }
  friend bool operator==(const ProcessInfo&, const ProcessInfo&) = default;
};

struct ProcessInstance {
  std::string instance{};
  SeqNr version{};
  GlobalPosition last_position{};
  bool stopped = false;
  std::vector<ProcessFailing> failures{};
  friend bool operator==(const ProcessInstance&, const ProcessInstance&) = default;
};

/// An effect that was given up, and not performed since.
struct ParkedEffect {
  std::string instance{};
  ProcessPlace place{};
  std::string type{};
  std::string reason{};
  Timestamp parked_at{};
  bool replaying = false;  ///< an operator asked to perform it once more
  friend bool operator==(const ParkedEffect&, const ParkedEffect&) = default;
};

struct PendingTimer {
  AggregateId aggregate{};
  TimerSet timer{};
  Timestamp due{};
  GlobalPosition set_at{};  ///< of the event that set it
  friend bool operator==(const PendingTimer&, const PendingTimer&) = default;
};
struct TimerListing {
  std::optional<std::string> type{};       ///< of aggregates
  std::optional<AggregateId> aggregate{};  ///< alone
  std::string after{};                     ///< TimerPage::next of the page before
  std::size_t limit = 100;                 ///< 1 to 1,000
};
struct TimerPage {
  std::vector<PendingTimer> timers{};  ///< in order of when they are due
  std::optional<std::string> next{};   ///< absent: this was the last one
  std::uint64_t pending = 0;           ///< all timers that match, on all pages
  friend bool operator==(const TimerPage&, const TimerPage&) = default;
};

/// From any thread. What is wanted of a process is an event: whoever runs it does it within a second, now or later, and
/// does it again after a crash.
class Processes {
 public:
  virtual ~Processes() = default;

  /// That ever ran here, in order of name.
  [[nodiscard]] virtual Result<std::vector<ProcessInfo>> processes() = 0;
  /// Errors: not_found
  [[nodiscard]] virtual Result<ProcessInfo> process(const std::string& name) = 0;
  /// In order of instance, behind `after`. Errors: not_found, invalid_argument: limit: 1 to 1,000
  [[nodiscard]] virtual Result<std::vector<ProcessInstance>> instances(const std::string& name,
                                                                       const std::string& after, std::size_t limit) = 0;
  /// In order of position. Cost: reads all reactions of the process. Errors: not_found
  [[nodiscard]] virtual Result<std::vector<ParkedEffect>> parked_effects(const std::string& name) = 0;
  /// Errors: not_found: no such process, instance, or parked effect; invalid_argument; those of append
  /// Durable: on return; it is done later.
  [[nodiscard]] virtual Result<GlobalPosition> control(const std::string& name, const ProcessControl& control) = 0;

  /// Cost: reads all that ever set timers. Errors: invalid_argument: limit, after
  [[nodiscard]] virtual Result<TimerPage> timers(const TimerListing& listing) = 0;
  /// Errors: not_found: no such timer; those of append
  [[nodiscard]] virtual Result<void> cancel_timer(const AggregateId& aggregate, const std::string& name) = 0;
};

}  // namespace evershard
