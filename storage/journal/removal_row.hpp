// The state rows of truncation and removal: how far each aggregate's history is gone, and what of it is still to be
// done.
//
// Source: docs/internals/on-disk-format.md, "Removals".

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/commit_batch.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

/// Of one aggregate; the later one replaces the earlier one.
struct RemovalRow {
  SeqNr before;             ///< its events below are gone
  SeqNr from{1};            ///< those below were gone already
  GlobalPosition last;      ///< the position of the last of these events
  bool aggregate = false;   ///< removed, not truncated: it is hidden while `before` is its last event
  std::string operation{};  ///< its name in the log of retention

  friend bool operator==(const RemovalRow&, const RemovalRow&) = default;
};

/// Under these names among the checkpoints and definitions, which a program that does not know them leaves alone.
inline constexpr std::string_view removed_prefix = "retention/removed/";
inline constexpr std::string_view removing_prefix = "retention/removing/";  ///< records of it are still to be rewritten

/// A node's: what is to be written there when an append stands; what it says is for who wrote it to read, its last
/// eight bytes are a checksum.
inline constexpr std::string_view intent_prefix = "retention/intent/";
/// Returns: it without the checksum. Errors: corruption
[[nodiscard]] Result<std::string_view> checked_intent(std::string_view bytes);

std::string removed_key(const AggregateId& aggregate);
std::string removing_key(const AggregateId& aggregate);
std::string encode_removal(const RemovalRow& row, const AggregateId& aggregate);
/// Errors: corruption: its checksum covers the aggregate too; invalid_argument: a newer program's
Result<RemovalRow> decode_removal(std::string_view bytes, const AggregateId& aggregate);

/// What the row says that something of an aggregate is still to be rewritten, as it is written or (no row) erased.
struct RemovingWrite {
  AggregateId aggregate;
  std::optional<RemovalRow> row;
};
/// Nothing: it is no such row. Errors: as decode_removal
Result<std::optional<RemovingWrite>> removing_in(const StateWrite& write);

struct RemovalRows {
  struct Damaged {
    std::string key;
    Error why;  ///< corruption; invalid_argument: a newer program's
  };
  std::vector<std::pair<AggregateId, RemovalRow>> rows;
  std::vector<Damaged> damaged;
};
/// Those under `prefix`; of removing_prefix: something is still to be done. Errors: corruption, io: they cannot be read
/// to their end
Result<RemovalRows> removal_rows(const Rows& rows, std::string_view prefix);
/// Absent: nothing of it was ever removed. Errors: corruption, io
Result<std::optional<RemovalRow>> removed_of(const Rows& rows, const AggregateId& aggregate);
/// Absent: no removal of the aggregate is still to be done. Errors: as above
Result<std::optional<RemovalRow>> removing_of(const Rows& rows, const AggregateId& aggregate);

}  // namespace evershard::storage
