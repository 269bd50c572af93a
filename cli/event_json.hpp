// The JSON shape of a stored event and of a snapshot: payload and metadata as JSON where that gives the same bytes back.

#pragma once

#include <string_view>

#include "evershard/cli/json_text.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::cli {

/// Whether the bytes can stand in a line of JSON as they are, and be taken out of it again unchanged.
[[nodiscard]] bool stands_in_a_line(std::string_view bytes);
[[nodiscard]] bool shown_as_json(std::string_view payload, PayloadFormat format);

/// One object. Source: docs/command-line.md, "An event".
void write_event(JsonText& json, const RecordedEvent& event);
void write_snapshot(JsonText& json, const RecordedSnapshot& snapshot);

}  // namespace evershard::cli
