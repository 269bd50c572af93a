// show(): an event that is built, viewed as one that is not.

#pragma once

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/recorded_view.hpp"

namespace evershard {

/// Shape: `event` holds as long as the view; nothing is left of what was shown before.
void show(const RecordedEvent& event, RecordedView& view);
/// The same of an event that whoever sees the view may take: RecordedView::take().
void show_to_take(RecordedEvent& event, RecordedView& view);

}  // namespace evershard
