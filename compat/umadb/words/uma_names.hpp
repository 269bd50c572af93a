// What Evershard writes into events for UmaDB's clients, beside what they gave: names of tags, keys of metadata, ids.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/mark_tags.hpp"

namespace evershard::umadb {

using evershard::import_position_tag;
using evershard::import_tag;
using evershard::tracking_position_tag;
using evershard::tracking_tag;

// Keys of the metadata, beside the client's own. UmaDB's clients do not see them and may not give them.
/// Decimal; of events of earlier releases, which have no tracking_position_tag.
inline constexpr std::string_view tracking_position_key = "evershard-tracking-position";
/// Where the client's tags were not ascending and different: `1 0 0`, of each its place among those that are stored.
inline constexpr std::string_view tag_order_key = "evershard-tag-order";
/// The client's id of an event, where another event has it already.
inline constexpr std::string_view uuid_key = "evershard-uuid";

// Keys that UmaDB's clients see with events of aggregates.
inline constexpr std::string_view aggregate_key = "evershard-aggregate";
inline constexpr std::string_view seq_nr_key = "evershard-seq-nr";
/// And with metadata that is no JSON object.
inline constexpr std::string_view bare_metadata_key = "metadata";

[[nodiscard]] bool is_own_tag(std::string_view tag);
[[nodiscard]] bool is_own_key(std::string_view key);

/// What no event of ours can be called: ids for those that came without one, and for those that came with the nil UUID,
/// of which there may be many. UUIDs of version 8, by which both are known again.
enum class NoId : std::uint8_t { none, nil };
[[nodiscard]] EventId id_of(NoId what);
/// Absent: it is an id.
[[nodiscard]] std::optional<NoId> no_id(const EventId& id);

}  // namespace evershard::umadb
