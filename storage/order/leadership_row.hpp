// The row in which a node keeps whose cuts it applied last, so that it takes nothing from a coordinator on a copy of
// the log.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/leadership.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

std::string leadership_key();
std::string leadership_row(const sharding::Leadership& applied);
/// Errors: corruption
[[nodiscard]] Result<sharding::Leadership> decode_leadership(std::string_view row);
/// Absent: there is none, or its cut was not applied: cuts of this store were made under epochs up to `newest`.
/// Errors: corruption, io
[[nodiscard]] Result<std::optional<sharding::Leadership>> applied_leadership(const Rows& rows, Epoch newest);

}  // namespace evershard::storage
