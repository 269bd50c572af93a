// The JSON shape of a stored event and of a snapshot: payload and metadata as JSON where that gives the same bytes
// back.

#pragma once

#include <optional>
#include <string_view>

#include "evershard/api/json/json_text.hpp"
#include "evershard/api/json/payload_types.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard {

/// Whether the bytes can stand in a line of JSON as they are, and be taken out of it again unchanged.
[[nodiscard]] bool stands_in_a_line(std::string_view bytes);
[[nodiscard]] bool shown_as_json(std::string_view payload, PayloadFormat format);

/// What registered types make of a payload. Absent: it is no Protobuf, or nothing is registered.
[[nodiscard]] std::optional<Result<ShownMessage>> decoded(const RecordedEvent& event, const PayloadTypes& types);
[[nodiscard]] std::optional<Result<ShownMessage>> decoded(const RecordedSnapshot& snapshot, const PayloadTypes& types);

/// As it was given to an append: what is read as an event of one. Source: docs/json.md, "An append".
void write_event(JsonText& json, const Event& event);
/// One object. What the types make of the payload stands beside its bytes, never in their place.
/// Source: docs/json.md, "An event".
void write_event(JsonText& json, const RecordedEvent& event, const PayloadTypes& types = {});
/// As an append has it.
void write_snapshot(JsonText& json, const Snapshot& snapshot);
void write_snapshot(JsonText& json, const RecordedSnapshot& snapshot, const PayloadTypes& types = {});

}  // namespace evershard
