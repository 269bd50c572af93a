#include "evershard/storage/index/hidden_aggregates.hpp"

#include <utility>

#include "evershard/protocol/retention_events.hpp"
#include "evershard/protocol/scheduled.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/removal_mask.hpp"
#include "evershard/storage/journal/removal_row.hpp"

namespace evershard::storage {
namespace {

bool has_removed(const Rows& rows) {
  const auto prefix = keys::checkpoint(removed_prefix);
  auto cursor = rows.cursor(Family::state, {.prefix = prefix});
  cursor->seek(prefix);
  return !cursor->status() ||
         (cursor->valid() && cursor->key().starts_with(prefix));  // where it cannot be read, who asks is told
}

}  // namespace

HiddenAggregates::HiddenAggregates(const Rows& rows, const Reader& reader)
    : rows_(rows), reader_(reader), any_before_(has_removed(rows)) {}

Result<bool> HiddenAggregates::hides(const View& view, const AggregateId& aggregate, const StreamHead& head) const {
  if (head.version == SeqNr{0}) return false;
  // A schedule goes without a marker: nothing is ever decided on one that is settled. Its stubs say that it is gone.
  if (aggregate.type == schedule_type) {
    auto last = reader_.event_at(view, head.last_position);
    if (!last) return refuse(std::move(last).error());
    return *last && (*last)->state == EventState::removed;
  }
  // Whatever is removed from now on is hidden from readers first.
  if (!any_before_ && (rows_.mask() == nullptr || rows_.mask()->empty())) return false;
  auto removed = removed_of(rows_, aggregate);
  if (!removed) return refuse(std::move(removed).error());
  if (!*removed || !(*removed)->aggregate || (*removed)->before != head.version) return false;
  auto event = reader_.event_at(view, head.last_position);
  if (!event) return refuse(std::move(event).error());
  // A copy that ends before the event that says so has the last of its stubs there.
  return *event && ((*event)->type == retention::aggregate_removed || (*event)->state == EventState::removed);
}

}  // namespace evershard::storage
