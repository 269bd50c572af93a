// Tags by which an import, or a client of UmaDB's that tracks a source, knows how far it has come. They are written
// with the events, stay where those are removed, and only those who keep such marks write them.

#pragma once

#include <string_view>

namespace evershard {

/// Followed by the source: each event of an append with tracking info has this tag, and the next one.
inline constexpr std::string_view tracking_tag = "evershard-tracking:";
/// Followed by a decimal. Absent in events of earlier releases, whose metadata says it.
inline constexpr std::string_view tracking_position_tag = "evershard-tracking-position:";
/// Followed by the source and by a position in it: the last event of each append of an import has both tags.
inline constexpr std::string_view import_tag = "evershard-import:";
inline constexpr std::string_view import_position_tag = "evershard-import-position:";

[[nodiscard]] inline bool is_mark_tag(std::string_view tag) {
  return tag.starts_with("evershard-") && (tag.starts_with(tracking_tag) || tag.starts_with(tracking_position_tag) ||
                                           tag.starts_with(import_tag) || tag.starts_with(import_position_tag));
}

}  // namespace evershard
