#include "evershard/doors/umadb/words/uma_append.hpp"

#include <string>
#include <utility>

#include "evershard/doors/umadb/words/uma_names.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::umadb {

Result<UmaAppend> UmaAppend::of(::umadb::v1::AppendRequest& request) {
  UmaAppend made;
  if (request.has_tracking_info()) {
    made.tracking.emplace(
        Tracking{std::move(*request.mutable_tracking_info()->mutable_source()), request.tracking_info().position()});
    EVERSHARD_TRY(check(*made.tracking));
    if (request.events().empty())
      return refuse(ErrorCode::invalid_argument, "tracking info is stored with events, and there are none");
  }
  const Riding riding{made.tracking ? &*made.tracking : nullptr, nullptr};
  made.append.events.reserve(static_cast<std::size_t>(request.events_size()));
  bool all_given = true;
  for (auto& from : *request.mutable_events()) {
    all_given = all_given && !from.uuid().empty();
    auto event = event_of(from, riding);
    if (!event) return refuse(std::move(event).error());
    if (all_given) made.given_ids.push_back(event->id);
    made.append.events.push_back(*std::move(event));
  }
  if (!all_given) made.given_ids.clear();
  if (!request.has_condition()) return made;
  const auto& condition = request.condition();
  made.condition =
      condition.has_fail_if_events_match() ? UmaQuery::of(condition.fail_if_events_match()) : UmaQuery::all();
  made.after = GlobalPosition(condition.after());
  EVERSHARD_TRY(made.condition->forbid(made.after, made.append.conditions));
  return made;
}

Result<Append> UmaAppend::tracked_after(const std::optional<std::pair<GlobalPosition, std::uint64_t>>& newest) const {
  if (newest && tracking->position <= newest->second) {
    return refuse(ErrorCode::condition_failed,
                  "non-increasing tracking position for source " + in_quotes(tracking->source, 300) + ": " +
                      std::to_string(tracking->position) + " <= " + std::to_string(newest->second));
  }
  auto tracked = append;
  tracked.conditions.push_back(
      {Query().tags({std::string(tracking_tag) + tracking->source}), newest ? newest->first : GlobalPosition(0)});
  return tracked;
}

bool UmaAppend::tracked_meanwhile(const Error& error) const {
  return tracking && error.code == ErrorCode::condition_failed && error.details && error.details->condition &&
         *error.details->condition == append.conditions.size();
}

}  // namespace evershard::umadb
