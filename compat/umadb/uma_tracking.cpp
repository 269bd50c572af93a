#include "evershard/compat/umadb/uma_tracking.hpp"

#include <tuple>

#include "evershard/compat/umadb/words/uma_event.hpp"
#include "evershard/compat/umadb/words/uma_names.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/shown_event.hpp"

namespace evershard::umadb {

Result<std::optional<std::pair<GlobalPosition, std::uint64_t>>> newest_tracked(EventStore& store,
                                                                               const std::string& source) {
  using Newest = std::optional<std::pair<GlobalPosition, std::uint64_t>>;
  ReadOptions options;
  options.direction = Direction::backwards;
  options.limit = 1;
  auto stream = store.read(Query().tags({std::string(tracking_tag) + source}), options);
  const auto event = stream.next();
  if (!event) return refuse(event.error());
  if (!*event) return Newest();
  RecordedView viewed;
  show(**event, viewed);
  UmaEvent shown;
  shown.show(viewed);
  if (!shown.tracking())
    return refuse(ErrorCode::corruption, "how far source " + in_quotes(source, 300) +
                                             " was tracked is not known any more: the event at position " +
                                             std::to_string((*event)->position.value) +
                                             " said it, was stored by an earlier release, and is removed");
  return Newest(std::in_place, (*event)->position, shown.tracking()->second);
}

}  // namespace evershard::umadb
