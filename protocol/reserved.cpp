#include "evershard/protocol/reserved.hpp"

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/prepared.hpp"
#include "evershard/protocol/processes.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/protocol/timers.hpp"

namespace evershard {
namespace {

Result<void> check_not_reserved(std::string_view role, std::string_view name) {
  if (!is_reserved(name)) return {};
  return refuse(ErrorCode::invalid_argument, std::string(role) + " " + in_quotes(std::string(name)) +
                                                 " is reserved: names that begin with '$' are the store's own");
}

/// How far a copy is, who writes a sink: kept in the store by its clients, through any door.
bool is_of_clients(const AggregateId& aggregate) { return aggregate.type == "$copy" || aggregate.type == "$sink"; }

}  // namespace

Result<void> check_reserved(const Append& append) {
  for (const auto& event : append.events) {
    if (event.aggregate && is_of_clients(*event.aggregate)) {
      const std::string_view own = event.aggregate->type == "$copy" ? "$Copy" : "$Sink";
      if (!event.type.starts_with(own))
        return refuse(ErrorCode::invalid_argument, "event type " + in_quotes(event.type) +
                                                       " has no place in reserved aggregate " +
                                                       in_quotes(event.aggregate->text()));
      continue;
    }
    const bool of_stores = append.from_export && event.aggregate &&
                           (event.type == retention::aggregate_removed || event.type == timers_changed_type ||
                            event.type == process_reacted_type || event.type == command_prepared_type);
    if (!of_stores) EVERSHARD_TRY(check_not_reserved("event type", event.type));
    if (event.aggregate) EVERSHARD_TRY(check_not_reserved("aggregate type", event.aggregate->type));
  }
  for (const auto& snapshot : append.snapshots) EVERSHARD_TRY(check_reserved(snapshot));
  if (append.command) EVERSHARD_TRY(check_not_reserved("aggregate type", append.command->aggregate.type));
  return {};
}

Result<void> check_reserved(const Snapshot& snapshot) {
  if (is_of_clients(snapshot.aggregate)) return {};
  return check_not_reserved("aggregate type", snapshot.aggregate.type);
}

}  // namespace evershard
