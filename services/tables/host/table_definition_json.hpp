// A table's definition as JSON: read strictly, written in one form.

#pragma once

#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"
#include "evershard/services/tables/table_definition.hpp"

namespace evershard::cluster {

/// Source: docs/tables.md.
///
///     {"table"?:"orders","fields":[{"name":"order","type":"text","role"?:"key","nullable"?:true}],
///      "on_violation"?:"fail","on_error"?:"fail","parts"?:1,
///      "rules":[{"types":["OrderPlaced"],"tags"?:["eu"],"action":"upsert",
///                "key":"aggregate" | {"order":"aggregate"},"fields"?:{"total":"$.total"}}]}
///     or instead of rules  "handler":{"name":"orders","revision"?:1,"query":{..}}
///
/// `name`: the projection's, and the table's where none is given.
/// Errors: invalid_argument with the path, unknown names with the nearest known one; those of TableDefinition::check()
[[nodiscard]] Result<actors::TableDefinition> read_table_definition(std::string_view json, const std::string& name);

/// In how many parts a table lies. Shape: `spec` was kept: what cannot be read is in one.
[[nodiscard]] std::uint32_t table_parts(const std::string& spec);

/// Every key written out but `parts` where that is 1, in a fixed order: equal definitions are equal texts.
[[nodiscard]] std::string table_definition_json(const actors::TableDefinition& definition);

}  // namespace evershard::cluster
