// A query in a definition's spec: its one JSON form, and the name that a shared index has of it.

#pragma once

#include <string>

#include "evershard/protocol/query.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::actors {

/// `{"all":true}` or `{"items":[{"types":[..],"tags":[..],"concerning":[..]}]}`, of the canonical query: equal queries
/// have equal texts.
[[nodiscard]] std::string query_spec(const Query& query);
/// Errors: invalid_argument, invalid_query, too_large
[[nodiscard]] Result<Query> read_query_spec(const std::string& json);

/// `q` and 16 hexadecimal digits: XXH3 of query_spec(). Two queries that share it are told apart by their specs.
[[nodiscard]] std::string index_name(const Query& query);

}  // namespace evershard::actors
