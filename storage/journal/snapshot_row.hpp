// A snapshot's row: the latest in slot 0, retained copies under their versions; the same bytes in both places.
//
// Source: docs/internals/on-disk-format.md, "State".

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::storage {

/// Its checksum covers the aggregate and every byte of the row. Expires `ttl` after `taken_at` where there is a ttl.
std::string encode_snapshot(const Snapshot& snapshot, GlobalPosition position, Timestamp taken_at);

/// `latest` is the reader's to set: it follows from the key. `keep`, of slot 0: how many retained copies count, the
/// newest; absent: all that are there.
///
/// Errors: corruption: also where it lies in two rows (latest_snapshot.hpp)
Result<RecordedSnapshot> decode_snapshot(std::string_view bytes, const AggregateId& aggregate,
                                         std::optional<std::uint32_t>* keep = nullptr);
/// The same of this row alone: its payload may be a difference.
Result<RecordedSnapshot> decode_snapshot_parts(std::string_view bytes, const AggregateId& aggregate,
                                               std::optional<std::uint32_t>* keep = nullptr);

}  // namespace evershard::storage
