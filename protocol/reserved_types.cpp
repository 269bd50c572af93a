#include "evershard/protocol/reserved_types.hpp"

#include <algorithm>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/nearest.hpp"
#include "evershard/protocol/prepared.hpp"
#include "evershard/protocol/processes.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/protocol/scheduled.hpp"
#include "evershard/protocol/timers.hpp"

namespace evershard {
namespace {

constexpr std::size_t named_most = 3;

std::vector<std::string> all_types() {
  std::vector<std::string> types;
  for (const auto type :
       {retention::aggregate_removed, retention::truncation_ordered, retention::truncation_done,
        retention::truncation_dropped, retention::removal_ordered, retention::removal_done, retention::removal_dropped,
        retention::events_removed, retention::erasure_ordered, retention::erasure_done, retention::policies_applied,
        retention::policy_created, retention::policy_dropped}) {
    types.emplace_back(type);
  }
  // Definitions: services/indexes/definition_fold.hpp has their verbs.
  for (const auto* category : {"$Projection", "$Group", "$Document"}) {
    for (const auto* verb : {"Created", "Changed", "Dropped"}) types.push_back(std::string(category) + verb);
  }
  for (const auto* verb : {"Paused", "Resumed", "Reset", "Rebuilt", "Served", "Retried", "Discarded"})
    types.push_back(std::string("$Projection") + verb);
  types.emplace_back("$DocumentHidden");
  for (const auto type : {timers_changed_type, process_reacted_type, process_taken_type, process_controlled_type,
                          process_retired_type, append_scheduled_type, schedule_settled_type, command_prepared_type})
    types.emplace_back(type);
  std::ranges::sort(types);
  return types;
}

}  // namespace

const std::vector<std::string>& reserved_event_types() {
  static const auto types = all_types();
  return types;
}

Result<void> check_known_type(std::string_view type) {
  if (!is_reserved(type) || type.starts_with("$Copy") || type.starts_with("$Sink")) return {};
  if (type == "$metadata" || type == stream_ended_type || type == "$>") return {};
  const auto& known = reserved_event_types();
  if (std::ranges::binary_search(known, type)) return {};
  std::string near;
  for (const auto& name : nearest_first(type, known, named_most)) near += (near.empty() ? "" : ", ") + name;
  return refuse(ErrorCode::invalid_argument,
                "event type " + in_quotes(type, 300) +
                    " is none that there can be: names that begin with '$' are the store's own. The nearest ones are " +
                    near);
}

Result<void> check_known_types(const Query& query) {
  for (const auto& item : query.items()) {
    for (const auto& type : item.types) EVERSHARD_TRY(check_known_type(type));
  }
  return {};
}

}  // namespace evershard
