#include "evershard/protocol/reserved.hpp"

#include <algorithm>

#include "evershard/protocol/copy_names.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/mark_tags.hpp"
#include "evershard/protocol/prepared.hpp"
#include "evershard/protocol/processes.hpp"
#include "evershard/protocol/reserved_types.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/protocol/timers.hpp"

namespace evershard {
namespace {

Result<void> check_not_reserved(std::string_view role, std::string_view name) {
  if (!is_reserved(name)) return {};
  return refuse(ErrorCode::invalid_argument, std::string(role) + " " + in_quotes(std::string(name)) +
                                                 " is reserved: names that begin with '$' are the store's own");
}

/// How far a copy is, who writes a sink: kept in the store by its clients. Doors take the first from operators alone.
bool is_of_clients(const AggregateId& aggregate) { return is_of_copy(aggregate) || aggregate.type == "$sink"; }

/// Of the store's own events those that it writes into users' aggregates.
bool stands_with_users(std::string_view type) {
  return type == retention::aggregate_removed || type == timers_changed_type || type == process_reacted_type ||
         type == command_prepared_type;
}

}  // namespace

bool is_own_type(std::string_view event_type) {
  return is_reserved(event_type) && (event_type.starts_with("$Copy") || event_type.starts_with("$Sink") ||
                                     std::ranges::binary_search(reserved_event_types(), event_type));
}

bool is_history(const std::optional<AggregateId>& aggregate, std::string_view event_type) {
  if (aggregate && is_own_aggregate(aggregate->type)) return false;
  return !is_own_type(event_type) || (aggregate && stands_with_users(event_type));
}

bool needs_export(const Append& append) {
  return std::ranges::any_of(append.events, [](const Event& event) {
    if (std::ranges::any_of(event.tags, is_mark_tag)) return true;
    if (event.state != EventState::live || event.type == retention::aggregate_removed) return true;
    return is_history(event) && (is_reserved(event.type) || (event.aggregate && is_reserved(event.aggregate->type)));
  });
}

std::vector<std::pair<AggregateId, EventId>> removals_of(const Append& append) {
  std::vector<std::pair<AggregateId, EventId>> removals;
  if (!append.from_export) return removals;
  for (const auto& event : append.events) {
    if (event.aggregate && event.type == retention::aggregate_removed)
      removals.emplace_back(*event.aggregate, event.id);
  }
  return removals;
}

Result<void> check_reserved(const Append& append) {
  for (const auto& event : append.events) {
    if (event.aggregate && is_of_clients(*event.aggregate)) {
      const std::string_view own = is_of_copy(*event.aggregate) ? "$Copy" : "$Sink";
      if (!event.type.starts_with(own))
        return refuse(ErrorCode::invalid_argument, "event type " + in_quotes(event.type) +
                                                       " has no place in reserved aggregate " +
                                                       in_quotes(event.aggregate->text()));
      continue;
    }
    if (append.from_export && is_history(event)) continue;
    if (const auto mark = std::ranges::find_if(event.tags, is_mark_tag);
        mark != event.tags.end() && !append.from_export)
      return refuse(ErrorCode::invalid_argument,
                    "tag " + in_quotes(*mark) +
                        " is reserved: by such tags imports and UmaDB's clients know how far they have come");
    EVERSHARD_TRY(check_not_reserved("event type", event.type));
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
