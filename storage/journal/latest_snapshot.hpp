// The latest snapshot of an aggregate, whether it lies in one row or, as a base and what changed since, in two.
//
// Source: docs/internals/on-disk-format.md, "A snapshot in two rows"; docs/decisions/0041.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"
#include "evershard/storage/journal/commit_batch.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"

namespace evershard::storage {

/// A state that later ones are told from. Its row is a snapshot's, of all bytes of that state.
struct SnapshotBase {
  std::string row;
  std::string payload;
  std::uint64_t checksum = 0;  ///< the row's: what is told from it names it by this
};

/// Of the bases, among the checkpoints and definitions, which a program that does not know them leaves alone.
inline constexpr std::string_view snapshot_base_prefix = "$snapshot/base/";
[[nodiscard]] std::string snapshot_base_key(const AggregateId& aggregate);
/// Errors: corruption
[[nodiscard]] Result<SnapshotBase> decode_snapshot_base(std::string_view row, const AggregateId& aggregate);

/// A state of fewer bytes lies in one row.
inline constexpr std::size_t two_rows_bytes_min = 16u << 10;
/// How many bytes may differ from a base before the state is a new base.
[[nodiscard]] std::size_t difference_bytes_max(const SnapshotBase& base);

/// What stands in slot 0 in the payload's place. Nothing: too much differs.
[[nodiscard]] std::optional<std::string> payload_of_difference(const SnapshotBase& base, std::string_view payload);

/// Of a row in slot 0, or of a retained copy: with the state itself, wherever that lies.
///
/// `keep`: as of decode_snapshot(). Errors: corruption; io
[[nodiscard]] Result<RecordedSnapshot> whole_snapshot(const Rows& rows, const AggregateId& aggregate,
                                                      std::string_view row,
                                                      std::optional<std::uint32_t>* keep = nullptr);
/// The same as one row, with the state itself.
[[nodiscard]] Result<std::string> whole_snapshot_row(const Rows& rows, const AggregateId& aggregate,
                                                     std::string_view row);
/// Absent: there is none. Errors: corruption; io
[[nodiscard]] Result<std::optional<RecordedSnapshot>> latest_snapshot_of(const Rows& rows,
                                                                         const AggregateId& aggregate);
/// As whole_snapshot_row(). A row that cannot be read is given as it lies there.
[[nodiscard]] Result<std::optional<std::string>> latest_snapshot_row(const Rows& rows, const AggregateId& aggregate);

/// One that lies in two rows, as they lie there.
struct SnapshotInTwoRows {
  std::string latest;  ///< the row in slot 0
  std::string base;
  std::uint64_t base_checksum = 0;
};
/// Absent: there is none, or in one row. Errors: corruption; io
[[nodiscard]] Result<std::optional<SnapshotInTwoRows>> latest_snapshot_in_two_rows(const Rows& rows,
                                                                                   const AggregateId& aggregate);

/// What is written where one comes from another disk.
struct TakenTwoRows {
  std::vector<StateWrite> rows;  ///< none: what is here is of a later version
  std::uint64_t base_checksum = 0;
};
/// `base`: its row; empty: it is here. Absent: it is not. The rows are written before any snapshot of that aggregate is
/// staged again.
/// Errors: corruption: these rows do not go together; io
[[nodiscard]] Result<std::optional<TakenTwoRows>> take_two_rows(const Rows& rows, const AggregateId& aggregate,
                                                                std::string_view base, std::string_view latest);

}  // namespace evershard::storage
