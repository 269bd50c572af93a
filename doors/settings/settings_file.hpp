// Settings from a file: `key = value` lines, in [groups] or not.

#pragma once

#include <string_view>
#include <vector>

#include "evershard/doors/settings/settings.hpp"

namespace evershard::settings {

/// Shape:   a line is empty, a # comment, a [group], or KEY = VALUE; a value may stand in "double quotes", in which \"
///          and \\ are a quote and a backslash, and without which a # with a blank in front begins a comment. Keys
///          below a [group] are that group's.
/// Errors:  invalid_argument with `name`, the line and what is wrong: an unknown key or group (with the one probably
///          meant), a key of another group, one that comes twice, a line that is none of these
/// Source:  docs/configuration.md
[[nodiscard]] Result<std::vector<Given>> from_file(const Table& table, std::string_view text, std::string_view name);

}  // namespace evershard::settings
