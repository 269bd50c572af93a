// Served: what the network doors of one process stand on, made once.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "evershard/actors/threads/long_reads.hpp"
#include "evershard/actors/threads/work_pool.hpp"
#include "evershard/api/administration.hpp"
#include "evershard/api/cluster_administration.hpp"
#include "evershard/api/documents.hpp"
#include "evershard/api/event_store.hpp"
#include "evershard/api/groups.hpp"
#include "evershard/api/json/registered_types.hpp"
#include "evershard/api/no_projections.hpp"
#include "evershard/api/processes.hpp"
#include "evershard/api/projections.hpp"
#include "evershard/api/retention.hpp"
#include "evershard/api/scheduled_appends.hpp"
#include "evershard/api/tables.hpp"
#include "evershard/doors/serving/access.hpp"
#include "evershard/doors/serving/client_gate.hpp"
#include "evershard/doors/serving/head_watch.hpp"
#include "evershard/doors/serving/homes.hpp"
#include "evershard/doors/serving/hosted_commands.hpp"
#include "evershard/doors/serving/metrics.hpp"
#include "evershard/doors/serving/wrong_tokens.hpp"

namespace evershard::serving {

/// Owner: who serves; it outlives the doors.
struct Served {
  EventStore& store;
  Administration& administration;
  cluster::WorkPool& pool;
  HeadWatch& watch;
  /// The tokens as they are now.
  std::function<std::shared_ptr<const Access>()> access;
  /// What the store has registered, as it is now. Errors: corruption, io
  std::function<Result<RegisteredTypes>()> types;
  /// What all doors count.
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
  /// What each client may ask of all doors together.
  std::shared_ptr<ClientGate> clients = std::make_shared<ClientGate>(ClientLimitOptions{});
  /// Absent: the store is one process.
  ClusterAdministration* cluster = nullptr;
  /// Absent: this store has none.
  Groups* groups = nullptr;
  /// Absent: this process keeps none.
  Documents* documents = nullptr;
  /// Absent: there are none here.
  Tables* tables = nullptr;
  /// Absent: it is not offered here.
  HistoryRetention* retention = nullptr;
  /// Absent: they are not shown here.
  Processes* processes = nullptr;
  /// Absent: it is not offered here.
  ScheduledAppends* scheduled = nullptr;
  /// The same events as `store`, and it takes names that begin with `$`: for doors whose clients have such names, and
  /// which see to it themselves that none is the store's own. Absent: it is not offered here.
  EventStore* all_names = nullptr;
  /// Absent: the store is one process.
  Homes* homes = nullptr;
  /// Absent: this process hosts no aggregates.
  const HostedCommands* commands = nullptr;
  /// Absent: this process has none.
  Projections* own_projections = nullptr;
  /// Who shows tokens that are not known.
  std::shared_ptr<WrongTokens> wrong_tokens = std::make_shared<WrongTokens>();
  /// Of the store: administration.stats() has it too. Empty: not named.
  std::string fork{};

  /// Told what an operator has to know, for the log. Any thread. Absent: nobody is told.
  std::function<void(const Error&)> warn{};

  /// What reads may cost.
  std::shared_ptr<cluster::LongReads> long_reads = std::make_shared<cluster::LongReads>();

  /// Why nothing is written any more until the store is opened again.
  std::function<std::optional<Error>()> cannot_write = [] { return std::optional<Error>(); };

  /// Why clients are not to be sent here yet, since this process was started.
  std::function<std::optional<Error>()> not_ready = [] { return std::optional<Error>(); };

  /// Whose order answers follow, as clients are told: sharding::text_of; another object when that changes. Null: the
  /// store is one process.
  std::function<std::shared_ptr<const std::string>()> led = [] { return std::shared_ptr<const std::string>(); };

  /// Another number each time events were removed or erased, as far as this process hears of it: what was read before
  /// is looked at again before it is given.
  std::function<std::uint64_t()> rewritten = [] { return std::uint64_t{0}; };
  /// An event that was read before, as it is now: of a cluster only its own shard is asked, where it is known by
  /// aggregate and id. Absent: the store is asked.
  std::function<Result<RecordedEvent>(GlobalPosition, const std::optional<AggregateId>&, const EventId&)> event_again{};
  [[nodiscard]] Result<RecordedEvent> look_again(GlobalPosition position, const std::optional<AggregateId>& aggregate,
                                                 const EventId& id) const {
    if (event_again) return event_again(position, aggregate, id);
    return (all_names != nullptr ? *all_names : store).event_at(position);
  }

  /// Why appends are refused for now: the disk has too little left.
  std::function<std::optional<Error>()> short_of_disk = [] { return std::optional<Error>(); };

  /// Where there are none, each call says so.
  [[nodiscard]] Projections& projections() const {
    static cluster::NoProjections none("this server keeps no projections");
    return own_projections != nullptr ? *own_projections : none;
  }
};

}  // namespace evershard::serving
