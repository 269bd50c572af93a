// A snapshot's row: the latest in slot 0, retained copies under their versions; the same bytes in both places.
//
// Source: docs/internals/on-disk-format.md, "State".

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::storage {

/// Its checksum covers the aggregate and every byte of the row. Expires `ttl` after `taken_at` where there is a ttl.
std::string encode_snapshot(const Snapshot& snapshot, GlobalPosition position, Timestamp taken_at);

/// The row of slot 0 for a snapshot that was read elsewhere. The latest does not expire.
std::string encode_latest_snapshot(const RecordedSnapshot& snapshot, std::optional<std::uint32_t> keep);

/// `latest` is the reader's to set: it follows from the key. `keep`, of slot 0: how many retained copies count, the
/// newest; absent: all that are there.
///
/// Errors: corruption: also where it lies in two rows (latest_snapshot.hpp)
Result<RecordedSnapshot> decode_snapshot(std::string_view bytes, const AggregateId& aggregate,
                                         std::optional<std::uint32_t>* keep = nullptr);
/// The same of this row alone: its payload may be a difference.
Result<RecordedSnapshot> decode_snapshot_parts(std::string_view bytes, const AggregateId& aggregate,
                                               std::optional<std::uint32_t>* keep = nullptr);

/// Whether snapshots of such aggregates may lie in two rows: states that are kept in snapshots alone, written again
/// with each thing that is settled. Their owners refuse a payload that says that it is a difference, in earlier
/// releases too.
[[nodiscard]] bool may_lie_in_two_rows(const AggregateId& aggregate);
/// What a payload begins with that is a difference, before the checksum of its base. No group's state begins so, and no
/// Protobuf message: who does not know it refuses it.
inline constexpr std::string_view difference_mark(
    "\xff"
    "EVDIFF\1",
    8);
/// Before what differs: the mark, the checksum of the base, that of the state.
inline constexpr std::size_t difference_head = difference_mark.size() + 2 * sizeof(std::uint64_t);
/// Of a payload in slot 0: the checksum of its base. Nothing: it is the state itself.
[[nodiscard]] std::optional<std::uint64_t> base_of_payload(const AggregateId& aggregate, std::string_view payload);

}  // namespace evershard::storage
