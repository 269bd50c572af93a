// WaitingRow: what comes with an append beside its events, kept until a cut places or refuses it.
//
// Source: docs/internals/on-disk-format.md, "State".

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"
#include "evershard/protocol/timestamp.hpp"
#include "evershard/sharding/reports.hpp"

namespace evershard::storage {

struct WaitingSnapshot {
  Snapshot snapshot;
  ShardOffset event;  ///< the one that makes its version
  friend bool operator==(const WaitingSnapshot&, const WaitingSnapshot&) = default;
};

struct WaitingRow {
  std::uint32_t events = 1;  ///< offsets it stands for, from its key's
  bool tentative = false;
  std::vector<sharding::TermCondition> conditions;
  std::optional<sharding::PartOf> part;
  Timestamp appended_at;  ///< when its snapshots count as taken
  std::vector<WaitingSnapshot> snapshots;
  friend bool operator==(const WaitingRow&, const WaitingRow&) = default;
};

std::string encode(const WaitingRow& row);
/// Errors: corruption
Result<WaitingRow> decode_waiting(std::string_view bytes);

}  // namespace evershard::storage
