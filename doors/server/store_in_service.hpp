// StoreInService: what a serving process serves: a whole store, or a cluster's seen from one of its nodes.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/api/administration.hpp"
#include "evershard/api/cluster_administration.hpp"
#include "evershard/api/documents.hpp"
#include "evershard/api/event_store.hpp"
#include "evershard/api/groups.hpp"
#include "evershard/api/processes.hpp"
#include "evershard/api/projections.hpp"
#include "evershard/api/retention.hpp"
#include "evershard/api/scheduled_appends.hpp"
#include "evershard/api/tables.hpp"
#include "evershard/doors/server/server_options.hpp"
#include "evershard/doors/serving/homes.hpp"
#include "evershard/doors/serving/log.hpp"

namespace evershard::server {

class StoreInService {
 public:
  virtual ~StoreInService() = default;
  [[nodiscard]] virtual EventStore& store() = 0;
  /// For who looks whether there is something, and at no payload: they may be as they are stored.
  [[nodiscard]] virtual EventStore& unopened() { return store(); }
  /// Takes names that begin with `$` too: Served::all_names.
  [[nodiscard]] virtual EventStore& all_names() { return store(); }
  [[nodiscard]] virtual Administration& administration() = 0;
  [[nodiscard]] virtual HistoryRetention& retention() = 0;
  /// What retention-every does: the policies, of all that this process has.
  [[nodiscard]] virtual Result<void> retain(const RetentionOrder& order, const Progress& progress) = 0;
  /// What schedule-keep does, of all that this process has.
  [[nodiscard]] virtual Result<void> remove_settled_schedules(std::chrono::milliseconds keep,
                                                              const RetentionOrder& order,
                                                              const Progress& progress) = 0;
  /// Nothing: the store is one process.
  [[nodiscard]] virtual ClusterAdministration* cluster() { return nullptr; }
  /// Nothing: the store is one process.
  [[nodiscard]] virtual serving::Homes* homes() { return nullptr; }
  /// Nothing: it has none.
  [[nodiscard]] virtual Groups* groups() { return nullptr; }
  [[nodiscard]] virtual ScheduledAppends& scheduled() = 0;
  [[nodiscard]] virtual Processes& processes() = 0;
  /// Where ServerOptions::kinds are hosted. Nothing: there are none.
  [[nodiscard]] virtual AggregateDoor* aggregates() { return nullptr; }
  /// Nothing: it keeps none.
  [[nodiscard]] virtual Tables* tables() { return nullptr; }
  /// Nothing: it keeps none.
  [[nodiscard]] virtual Documents* documents() { return nullptr; }
  /// Nothing: it has none.
  [[nodiscard]] virtual Projections* projections() { return nullptr; }
  /// The parts of its administration's vacuum(), each by itself; of rows those of which at least `removed_percent` of
  /// 100 were removed.
  [[nodiscard]] virtual Result<void> vacuum_events(const Progress& progress) = 0;
  [[nodiscard]] virtual Result<void> vacuum_documents(unsigned removed_percent, const Progress& progress) = 0;
  [[nodiscard]] virtual Result<void> vacuum_projections(unsigned removed_percent, const Progress& progress) = 0;
  /// The gRPC door is open: where it listens.
  virtual void serves_at(const std::vector<std::string>&) {}
  /// The door for KurrentDB's clients is open: where it listens.
  virtual void serves_kurrent_at(const std::vector<std::string>&) {}
  /// All doors are open: from here on others may count on this process. Once; a server that could not listen never gets
  /// here.
  virtual void begin() {}
  /// Reads its files anew. Errors: what could not be read stays in force as it was
  [[nodiscard]] virtual Result<void> reload() { return {}; }
  /// Why it does nothing any more, and only another process on the same directory can.
  [[nodiscard]] virtual std::optional<Error> failed() { return {}; }
  /// Why it still answers what is asked, and writes nothing any more until it is opened again.
  [[nodiscard]] virtual std::optional<Error> cannot_write() { return {}; }
  /// Why clients are not to be sent here yet, since it was started: a part of what is asked would be refused. Nothing
  /// once there was no such reason: what comes later is told by the calls it concerns.
  [[nodiscard]] virtual std::optional<Error> not_ready() { return {}; }
  /// Whose order its answers follow, as text for clients: sharding::text_of; another object when that changes. Null:
  /// the store is one process.
  [[nodiscard]] virtual std::shared_ptr<const std::string> led() { return nullptr; }
  /// Another number each time events were removed or erased: what was read before is looked at again before it is
  /// given.
  [[nodiscard]] virtual std::uint64_t rewritten() { return 0; }
  /// Served::event_again
  [[nodiscard]] virtual Result<RecordedEvent> event_again(GlobalPosition position, const std::optional<AggregateId>&,
                                                          const EventId&) {
    return all_names().event_at(position);
  }
  /// Why appends are refused for now: the disk has too little left.
  [[nodiscard]] virtual std::optional<Error> short_of_disk() { return {}; }
  /// Answers what is under way, refuses what comes. Any number of times.
  virtual void close() = 0;
};

using OpenStore =
    std::function<Result<std::unique_ptr<StoreInService>>(const ServerOptions& options, serving::Log& log)>;

/// The handlers of a process's effects. Errors: unavailable: what makes them has thrown
[[nodiscard]] Result<Effects> effects_of(const ServedProcess& process);

/// The whole store in `options.store`, with its kinds and processes. Errors: those of Local::open, AggregateDoor::host,
/// ProcessDoor::run
[[nodiscard]] Result<std::unique_ptr<StoreInService>> open_whole_store(const ServerOptions& options, serving::Log& log);

}  // namespace evershard::server
