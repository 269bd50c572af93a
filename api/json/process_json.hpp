// The JSON shapes of processes and timers, as they are seen from outside, and of what is wanted of them.

#pragma once

#include <string_view>

#include "evershard/api/json/json_text.hpp"
#include "evershard/api/processes.hpp"

namespace evershard {

/// Source: docs/json.md, "Processes and timers"
void write_process(JsonText& json, const ProcessInfo& info);
void write_process_instance(JsonText& json, const ProcessInstance& instance);
void write_parked_effect(JsonText& json, const ParkedEffect& effect);
void write_pending_timer(JsonText& json, const PendingTimer& timer);

/// `stop`, `resume`, `retry`, `skip`, `replay`
[[nodiscard]] std::string_view name_of(ProcessControl::Action action);
/// `{"action":"stop","instance"?:".."}`, `{"action":"skip","item":"event/17"}`. Errors: invalid_argument
[[nodiscard]] Result<ProcessControl> read_process_control(std::string_view text);
/// The same from its parts. Errors: invalid_argument: no such action; one that has no item, or needs one
[[nodiscard]] Result<ProcessControl> process_control_of(std::string_view action, std::string instance,
                                                        std::string_view item);

}  // namespace evershard
