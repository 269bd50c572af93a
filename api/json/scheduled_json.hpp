// The JSON shapes of a scheduled append: the order for one, and how it is.

#pragma once

#include <string_view>

#include "evershard/api/json/json_text.hpp"
#include "evershard/api/scheduled_appends.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// `{"id"?:"..","due":"2026-01-31T12:00:00Z","append":{..},"replace"?:true}`, or `"after":"15min"` in the place of due.
///
/// Errors: invalid_argument, invalid_query, too_large, each with the path
/// Source: docs/json.md, "A scheduled append"
[[nodiscard]] Result<ScheduleOrder> read_schedule(std::string_view text);
void write_scheduled(JsonText& json, const ScheduledAppend& scheduled);
/// `{"scheduled":[..],"next":null}`
void write_scheduled_page(JsonText& json, const ScheduledPage& page);

}  // namespace evershard
