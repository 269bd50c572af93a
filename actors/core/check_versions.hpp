// Versions: whether the aggregates of an append stand where it expects them.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "evershard/actors/core/prepared.hpp"
#include "evershard/protocol/error.hpp"
#include "evershard/storage/index/reader.hpp"

namespace evershard::actors {

struct VersionConflict {
  std::uint32_t aggregate = 0;  ///< in `heads`
  bool missing = false;         ///< rests on what is not there: the version is too low, the aggregate absent
  Error error;
};

/// The first expectation that does not hold: of expected versions, of the append's chain, of snapshots.
///
/// `heads`: of the append's aggregates, then of its guards. `elsewhere`: a flag for each that is not zero where another
/// shard's writer decides; empty: none. `last_writer`: whose chain wrote last to the append's first aggregate; 0: not
/// known.
[[nodiscard]] std::optional<VersionConflict> check_versions(const Prepared& prepared,
                                                            std::span<const storage::StreamHead> heads,
                                                            std::uint64_t last_writer,
                                                            std::span<const std::uint8_t> elsewhere = {});

}  // namespace evershard::actors
