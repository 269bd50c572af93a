// Taking out of a database what a repaired or restored store does without.

#pragma once

#include <string>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/repair/derived_damage.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"
#include "evershard/storage/rocks/rocks_options.hpp"

namespace evershard::storage {

/// Of snapshots: which, and what becomes of their aggregates; a sentence each. Where the latest one goes, the newest
/// retained copy that is whole takes its place. Errors: io, corruption (the rows cannot be read)
[[nodiscard]] Result<std::vector<std::string>> said_of_snapshots(const Rows& rows,
                                                                 const std::vector<std::string>& snapshots);

/// Takes it out of a database that nobody else has open; indexes are made by whoever opens it next.
/// Errors: io, corruption
[[nodiscard]] Result<void> leave_out(RocksFamilies& families, const RocksOptions& rocks, const LeftOut& what);

}  // namespace evershard::storage
