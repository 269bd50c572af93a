// What UmaDB's clients ask for, as a query of ours.

#pragma once

#include <optional>

#include "evershard/protocol/query.hpp"
#include "evershard/umadb/umadb.pb.h"

namespace evershard::umadb {

/// No items is everything, and so is an item that asks nothing. What no event of ours can have (an empty type, a tag of
/// 300 bytes) is looked for in vain, and no error.
///
/// Returns: absent: nothing matches. Over the limits of a query where theirs is: whoever takes it checks it
[[nodiscard]] std::optional<Query> query_of(const ::umadb::v1::Query& query);

}  // namespace evershard::umadb
