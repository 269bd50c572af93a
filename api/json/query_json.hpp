// The JSON shape of a query, and of the lists it is made of.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/api/json/json_text.hpp"
#include "evershard/api/json/json_value.hpp"
#include "evershard/protocol/query.hpp"

namespace evershard {

/// `{"items":[{"types"?:[..],"tags"?:[..],"concerning"?:[..]}]}`, or `{"all":true}`; checked.
/// Errors: invalid_argument, invalid_query, too_large
[[nodiscard]] Result<Query> read_query(const JsonValue& from);
/// `name`: the flag it came from, for the error.
[[nodiscard]] Result<Query> read_query(std::string_view text, std::string_view name);
/// What read_query reads; empty parts are left out.
void write_query(JsonText& json, const Query& query);

Result<void> read_strings(const JsonValue& from, std::vector<std::string>& to);
Result<void> read_aggregate(const JsonValue& from, std::optional<AggregateId>& to);
Result<void> read_aggregates(const JsonValue& from, std::vector<AggregateId>& to);

}  // namespace evershard
