#include "evershard/services/copy/copied_appends.hpp"

#include <algorithm>
#include <utility>

namespace evershard::cluster {
namespace {

Event copied_event(RecordedEvent&& from) {
  return {from.id,
          std::move(from.aggregate),
          std::move(from.type),
          std::move(from.tags),
          std::move(from.also),
          std::move(from.payload),
          from.format,
          std::move(from.metadata),
          from.occurred_at,
          std::move(from.subject)};
}

}  // namespace

void CopiedAppends::give(std::vector<CopiedAppend>& to) {
  if (open_.last.value == 0) return;
  given_ = std::max(given_, open_.last);
  if (!open_.events.empty()) to.push_back(std::move(open_));
  open_ = {};
}

std::vector<CopiedAppend> CopiedAppends::take(std::vector<RecordedEvent> events) {
  std::vector<CopiedAppend> whole;
  for (auto& event : events) {
    const GlobalPosition first = event.position - event.append_index;
    if (open_.last.value != 0 && first != first_) give(whole);
    if (!filter_.takes(event)) continue;
    first_ = first;
    open_.last = first + (event.append_events - 1);
    if (event.state != EventState::live) {
      ++gone_;
      continue;
    }
    open_.seq_nrs.push_back(event.seq_nr);
    open_.events.push_back(copied_event(std::move(event)));
  }
  return whole;
}

std::vector<CopiedAppend> CopiedAppends::read_up_to(GlobalPosition position) {
  std::vector<CopiedAppend> whole;
  if (open_.last.value != 0 && open_.last > position) return whole;
  give(whole);
  given_ = std::max(given_, position);
  return whole;
}

}  // namespace evershard::cluster
