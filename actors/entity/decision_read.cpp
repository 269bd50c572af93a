#include "evershard/actors/entity/decision_read.hpp"

#include <utility>

namespace evershard::actors {

Result<DecisionRead> read_decision(const AggregateKind& kind, const AggregateJournal& journal,
                                   const CommandBytes& command, DecisionModel decision, GlobalPosition at_least) {
  ReadOptions options;
  options.at_least = at_least;
  for (bool complete = false; !complete;) {
    auto page = journal.query(decision.query, options);
    if (!page) return refuse(std::move(page).error());
    if (!options.up_to) options.up_to = page->watermark;
    if (page->events.empty() && !page->complete)
      return refuse(ErrorCode::unavailable, "reading a decision model does not get on");
    for (const RecordedEvent& event : page->events) {
      EVERSHARD_TRY(kind.fold(command, *decision.model, event));
      options.after = event.position;
    }
    complete = page->complete;
  }
  return DecisionRead{std::move(decision), *options.up_to};
}

}  // namespace evershard::actors
