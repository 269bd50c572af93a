// Rows, plans and descriptions of tables as JSON: the same from every door.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/api/json/json_text.hpp"
#include "evershard/api/tables.hpp"

namespace evershard::cluster {

/// Texts, times and base64 as strings, numbers and booleans as such, JSON as it is, but on one line.
void write_value(JsonText& json, FieldType type, const TableValue& value);
/// `{"order":"order-1","total":5}`. `types`: a type a field.
void write_row(JsonText& json, const std::vector<std::string>& fields, const std::vector<FieldType>& types,
               const std::vector<TableValue>& row);
void write_table_info(JsonText& json, const TableInfo& info);
void write_parked(JsonText& json, const ParkedRow& parked);

/// A row is an object: no member of it may come twice. Errors: invalid_argument: a name is there already
[[nodiscard]] Result<void> add_field(std::string_view name, std::vector<std::string>& to);
/// `total`, or `-total`: descending. Errors: invalid_argument: the rows are in order of that field already
[[nodiscard]] Result<void> add_order(std::string_view text, std::vector<TableOrder>& to);
/// `NAME=VALUE`. Errors: invalid_argument: there is no `=`; the name is there already
[[nodiscard]] Result<void> add_parameter(std::string_view text, std::map<std::string, TableValue>& to);
/// A parameter's value from text: JSON that is a string, a number, true, false or null; anything else is a text as it
/// stands.
[[nodiscard]] TableValue parameter_of(std::string_view text);

}  // namespace evershard::cluster
