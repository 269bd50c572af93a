// Names of streams as KurrentDB's clients have them <-> aggregates: any name has its aggregate and back.

#pragma once

#include <string>
#include <string_view>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/recorded_view.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::kurrent {

/// Of aggregates whose names are no `type-value`: `cart`, `-7`, `order-`, `$settings`.
inline constexpr std::string_view plain_type = plain_stream_type;
/// Of `$$NAME`, where a stream's metadata is: the value is NAME.
inline constexpr std::string_view metadata_type = stream_metadata_type;
/// The stream under which events without an aggregate are shown in `$all`. There is nothing to read under it.
inline constexpr std::string_view no_stream_name = "$events";

inline constexpr std::string_view metadata_mark = "$$";
inline constexpr std::string_view category_mark = "$ce-";    ///< a stream of all events of a type of aggregates
inline constexpr std::string_view event_type_mark = "$et-";  ///< a stream of all events of a type

/// `order-7` is the aggregate `order-7`; `$$NAME` is NAME's metadata; what is no `type-value` is of plain_type. What
/// the store itself keeps, as `$schedule-7`, is that aggregate: it can be read.
///
/// Errors: invalid_argument (no text, NUL, not UTF-8, more than 512 bytes behind the type)
[[nodiscard]] Result<AggregateId> aggregate_of(std::string_view stream);
/// The other way round. `aggregate_of(name_of(id)) == id` for everything that aggregate_of() gives.
[[nodiscard]] std::string name_of(const AggregateId& aggregate);
/// Of an event, `$events` where it has no aggregate.
[[nodiscard]] std::string name_of(const RecordedEvent& event);
[[nodiscard]] std::string name_of(const RecordedView& event);

[[nodiscard]] inline bool is_metadata(const AggregateId& aggregate) { return aggregate.type == metadata_type; }
/// The stream whose metadata it is. Shape: is_metadata()
[[nodiscard]] Result<AggregateId> stream_of_metadata(const AggregateId& metadata);
[[nodiscard]] Result<AggregateId> metadata_of(const AggregateId& stream);

/// Whether clients may write there: not into what the store itself keeps, nor into streams that are derived.
///
/// Errors: permission_denied
[[nodiscard]] Result<void> check_writable(std::string_view stream, const AggregateId& aggregate);
/// Whether they may write events of this type there: names of theirs may begin with `$`, but not be the store's own.
///
/// Errors: permission_denied, invalid_argument (more than 255 bytes)
[[nodiscard]] Result<void> check_writable_type(std::string_view type, const AggregateId& aggregate);

}  // namespace evershard::kurrent
