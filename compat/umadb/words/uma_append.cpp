#include "evershard/compat/umadb/words/uma_append.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "evershard/compat/umadb/words/uma_names.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/reserved.hpp"

namespace evershard::umadb {
namespace {

/// UmaDB stores an id as often as it comes, we store it once: also within one append.
void make_ids_different(std::vector<Event>& events) {
  if (events.size() < 2) return;
  std::vector<EventId> sorted;
  sorted.reserve(events.size());
  for (const auto& event : events) sorted.push_back(event.id);
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return;
  std::unordered_set<EventId> seen;
  for (auto& event : events) {
    if (!seen.insert(event.id).second) give_other_id(event);
  }
}

}  // namespace

Result<UmaAppend> UmaAppend::of(::umadb::v1::AppendRequest& request) {
  UmaAppend made;
  if (request.has_tracking_info()) {
    made.tracking.emplace(
        Tracking{std::move(*request.mutable_tracking_info()->mutable_source()), request.tracking_info().position()});
    EVERSHARD_TRY(check(*made.tracking));
    if (request.events().empty())
      return refuse(ErrorCode::invalid_argument, "tracking info is stored with events, and there are none");
  }
  made.append.events.reserve(static_cast<std::size_t>(request.events_size()));
  for (auto& from : *request.mutable_events()) {
    auto event = event_of(from, made.tracking ? &*made.tracking : nullptr);
    if (!event) return refuse(std::move(event).error());
    made.append.events.push_back(*std::move(event));
  }
  make_ids_different(made.append.events);
  if (!request.has_condition()) return made;
  const auto& condition = request.condition();
  made.condition = condition.has_fail_if_events_match() ? query_of(condition.fail_if_events_match()) : Query::all();
  made.after = GlobalPosition(condition.after());
  if (made.condition) made.append.conditions.push_back({*made.condition, made.after});
  made.conditions = made.append.conditions.size();
  return made;
}

void UmaAppend::give_other_ids() {
  for (auto& event : append.events) give_other_id(event);
}

Result<Append> UmaAppend::tracked_after(const std::optional<std::pair<GlobalPosition, std::uint64_t>>& newest) const {
  if (newest && tracking->position <= newest->second) {
    return refuse(ErrorCode::condition_failed,
                  "non-increasing tracking position for source " + in_quotes(tracking->source, 300) + ": " +
                      std::to_string(tracking->position) + " <= " + std::to_string(newest->second));
  }
  // What comes with marks is taken as from another store, but for them a client has what any other has.
  for (const auto& event : append.events)
    if (is_reserved(event.type))
      return refuse(ErrorCode::invalid_argument, "event type " + in_quotes(event.type, 300) + " is reserved");
  auto tracked = append;
  tracked.from_export = true;  // the marks are its own: others may not write them
  tracked.conditions.push_back(
      {Query().tags({std::string(tracking_tag) + tracking->source}), newest ? newest->first : GlobalPosition(0)});
  return tracked;
}

void UmaAppend::Repetition::found(const UmaEvent& event) {
  found_.emplace(event.position(),
                 Found{std::string(event.uuid()), std::string(event.type()), std::string(event.data())});
}

std::optional<GlobalPosition> UmaAppend::Repetition::position() const {
  const auto& events = request_.events();
  if (events.empty() || found_.size() < static_cast<std::size_t>(events.size())) return std::nullopt;
  auto at = found_.begin();
  auto last = at;
  for (const auto& event : events) {
    const auto id = EventId::parse(event.uuid());
    if (!id || at->second.uuid != id->text()) return std::nullopt;
    if (!id->given() && (at->second.type != event.event_type() || at->second.data != event.data())) return std::nullopt;
    last = at++;
  }
  return GlobalPosition(last->first);
}

bool UmaAppend::tracked_meanwhile(const Error& error) const {
  return tracking && error.code == ErrorCode::condition_failed && error.details && error.details->condition &&
         *error.details->condition == conditions;
}

}  // namespace evershard::umadb
