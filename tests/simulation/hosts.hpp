// Hosts: what a node of the simulation runs on its store: live aggregates, timers, scheduled appends and a process; and
// what there is one of in the whole run.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evershard/actors/entity/entity_table.hpp"
#include "evershard/actors/process/process_driver.hpp"
#include "evershard/actors/timers/timer_firing.hpp"
#include "evershard/services/scheduled/due_appends.hpp"
#include "tests/simulation/parts.hpp"

namespace evershard::simulation {

/// When a timer that the clients set is due, said a second time: they set calendars of four kinds, in a winter in
/// which no clocks are set in Berlin.
[[nodiscard]] Timestamp played_due(const TimerSet& timer, Timestamp set);

struct Simulation::Hosts {
  static constexpr actors::PaceOptions quick{.retry_most = std::chrono::milliseconds(2'000)};
  /// What is read up to a watermark, from the owners of all shards.
  struct Feed {
    GlobalPosition read_to{};
    bool caught_up = false;
    bool asks = false;
    std::uint64_t round = 0;
    std::uint32_t missing = 0;  ///< shards
    std::vector<RecordedEvent> found{};
    Network::Microseconds asked_at = 0;
  };

  std::map<ShardId, actors::EntityTable> tables;
  std::map<std::uint64_t, Answered> waiting;  ///< by ticket
  std::uint64_t tickets = 0;

  Feed due;
  actors::TimerFiring timers{quick};
  cluster::DueAppends appends{quick};

  // The process: a session lasts from taking it over until its home is elsewhere.
  Feed events;
  std::optional<actors::ProcessDriver> driver;
  std::uint64_t session = 0;
  bool taking = false;
  bool over = false;
  GlobalPosition taken_at{};
  Network::Microseconds believes_until = 0;  ///< that it is its home, whosever it is
  Network::Microseconds kept_at = 0;         ///< the checkpoint
};

/// Of the whole run.
struct Simulation::Played {
  explicit Played(std::uint32_t shards);

  std::uint32_t shards;
  std::vector<std::shared_ptr<const AggregateKind>> kinds;
  std::shared_ptr<const ProcessDefinition> process;
  std::map<AggregateId, std::uint32_t> numbers;
  std::vector<AggregateId> aggregates;                                  ///< by number, from first_number on
  std::map<RequestId, AppendId> requests;                               ///< of those that name themselves
  std::vector<GlobalPosition> checkpoints;                              ///< as they were kept
  std::set<std::string> performed;                                      ///< keys of effects
  std::uint32_t payments = 0, orders = 0, schedules = 0, commands = 0;  ///< that clients asked for

  static constexpr std::uint32_t first_number = 1'000;  ///< of an aggregate, as the history has it
  [[nodiscard]] ShardId shard_of(const AggregateId& aggregate) const;
  [[nodiscard]] std::uint32_t number_of(const AggregateId& aggregate);
};

}  // namespace evershard::simulation
