// The last position at or before a time: a search over positions, which are in order, for times, which nearly are.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard {

/// What the search has to know of an event.
struct DatedEvent {
  GlobalPosition position;
  std::optional<Timestamp> at;     ///< absent: the event was removed, and its time with it
  std::uint32_t append_index = 0;  ///< as RecordedEvent has them: the answer does not tear an append
  std::uint32_t append_events = 1;
};

/// The events behind a position, in order, at most `limit` of them.
using DatedEvents = std::function<Result<std::vector<DatedEvent>>(GlobalPosition after, std::uint64_t limit)>;

/// How far times may be out of order for an exact answer: an event is not dated earlier than one that stands more
/// positions in front of it. Of 100,000 appends a second these are 10 ms.
constexpr std::uint64_t dated_out_of_order_max = 1'000;
/// Behind so many removed events in a row nobody looks for an event with a time.
constexpr std::uint64_t dated_gap_max = 100'000;

/// The end of the last append at or before `at`, in front of every event that is known to be later. 0: there is none.
///
/// Where times are further out of order than dated_out_of_order_max, the answer is one of several: the event behind it
/// is later, and none of the dated_out_of_order_max events in front of it is.
///
/// Shape: up to `head` there is an event at every position.
/// Errors: those of `look`
/// Cost:   some 5 events for each bit of `head`, more where many were removed; then dated_out_of_order_max events and
///         those removed around the answer, at most dated_gap_max.
[[nodiscard]] Result<GlobalPosition> position_at(Timestamp at, GlobalPosition head, const DatedEvents& look);

}  // namespace evershard
