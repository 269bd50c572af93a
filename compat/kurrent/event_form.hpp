// Events as KurrentDB's clients send and see them <-> ours.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/kurrent/shared.pb.h"
#include "evershard/kurrent/streams.pb.h"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/recorded_view.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::kurrent {

namespace es = ::event_store::client;
namespace esp = ::event_store::client::streams;

inline constexpr std::string_view content_json = "application/json";
inline constexpr std::string_view content_bytes = "application/octet-stream";
inline constexpr std::string_view link_type = "$>";
inline constexpr std::int64_t ticks_of_a_micro = 10;

/// Errors: invalid_argument: neither form, or a text that is no UUID
[[nodiscard]] Result<EventId> id_of(const es::UUID& from);
void put_id(const EventId& id, bool structured, es::UUID& to);
/// The eight bytes from there on, as the structured form has them. Shape: `from`: 0 or 8
[[nodiscard]] std::uint64_t half_of(const EventId& id, std::size_t from);

/// Shape:  Proposed: esp::AppendReq::ProposedMessage, esp::BatchAppendReq::ProposedMessage
/// Errors: invalid_argument (no id, no type), permission_denied (a type that is the store's own)
template <class Proposed>
[[nodiscard]] Result<Event> event_of(Proposed& proposed, const AggregateId& aggregate);

/// The same of one that was read already: it is given its aggregate.
[[nodiscard]] Result<void> accept_proposed(Event& event, const AggregateId& aggregate);

/// The revision that clients see: from 0; of the event that ends a stream for good the greatest there is; of one
/// without an aggregate its position.
[[nodiscard]] std::uint64_t revision_of(const RecordedEvent& event);
[[nodiscard]] std::uint64_t revision_of(const RecordedView& event);

/// An id that is taken, in its shard, by an event of another stream: theirs are unique in a stream only. The event gets
/// another id, always the same, and keeps its own in a tag. `place`: tells it from others of its stream with its id.
void rename_id(Event& event, std::string_view place = {});
/// What its clients gave it, also where it was renamed.
[[nodiscard]] EventId shown_id(const RecordedEvent& event);
[[nodiscard]] EventId shown_id(const RecordedView& event);

void put_event(const RecordedEvent& event, bool structured_ids, esp::ReadResp::ReadEvent::RecordedEvent& to);

/// What a link says: `7@order-1`.
struct LinkTarget {
  std::uint64_t revision = 0;
  std::string stream{};
};
/// Errors: invalid_argument: it is no link
[[nodiscard]] Result<LinkTarget> target_of(std::string_view link);

}  // namespace evershard::kurrent
