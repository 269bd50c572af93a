// How projections and what they hold look in JSON: the same for the command line and for HTTP.

#pragma once

#include "evershard/api/json/json_text.hpp"
#include "evershard/api/json/payload_types.hpp"
#include "evershard/api/projections.hpp"

namespace evershard {

/// Source: docs/projections.md, "How a projection is"
void write_projection(JsonText& json, const ProjectionInfo& info);
/// `{"number":1,"position":17}`, with the event where it was asked for.
void write_index_entry(JsonText& json, const IndexEntry& entry, const PayloadTypes& types);
/// `{"value":42,"position":17}`, with the event where it was asked for.
void write_value_entry(JsonText& json, const ValueEntry& entry, const PayloadTypes& types);

/// The version that a read gets, else the newest; nothing: there is none.
[[nodiscard]] std::optional<ProjectionVersion> shown_version(const ProjectionInfo& info);

}  // namespace evershard
