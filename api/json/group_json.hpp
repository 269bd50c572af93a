// The JSON shapes of groups: settings, how a group is, parked events, what a worker is given. The same for the command
// line and every door.

#pragma once

#include "evershard/api/groups.hpp"
#include "evershard/api/json/event_json.hpp"
#include "evershard/api/json/json_value.hpp"

namespace evershard {

/// The members of an object: `"order":"aggregate","after_parked":"go_on","attempts_max":3,"retry_first_ms":60000,...`.
void write_group_settings(JsonText& json, const GroupSettings& settings);
/// One of them. Returns: false: no setting has that key. Errors: invalid_argument; ranges are GroupSettings::check()'s
[[nodiscard]] Result<bool> read_group_setting(std::string_view key, const JsonValue& value, GroupSettings& settings);

/// One object. Source: docs/groups.md
void write_group(JsonText& json, const GroupInfo& group);
void write_parked_event(JsonText& json, const ParkedEvent& parked);
/// An event as ever, and `"delivery":..,"attempt":..`.
void write_delivery(JsonText& json, const GroupDelivery& delivery, const PayloadTypes& types = {});

}  // namespace evershard
