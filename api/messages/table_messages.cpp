#include "evershard/api/messages/table_messages.hpp"

namespace evershard::messages {
namespace {

void put_value(const TableValue& from, pb::TableValue& to) {
  if (const auto* flag = from.as<bool>())
    to.set_boolean(*flag);
  else if (const auto* whole = from.as<std::int64_t>())
    to.set_integer(*whole);
  else if (const auto* number = from.as<double>())
    to.set_number(*number);
  else if (const auto* time = from.as<Timestamp>())
    to.set_time_us(time->micros);
  else if (const auto* text = from.as<std::string>())
    to.set_string(*text);
}

TableValue value_from(const pb::TableValue& from) {
  switch (from.value_case()) {
    case pb::TableValue::kBoolean:
      return from.boolean();
    case pb::TableValue::kInteger:
      return static_cast<std::int64_t>(from.integer());
    case pb::TableValue::kNumber:
      return from.number();
    case pb::TableValue::kTimeUs:
      return Timestamp{from.time_us()};
    case pb::TableValue::kString:
      return from.string();
    case pb::TableValue::VALUE_NOT_SET:
      break;
  }
  return {};
}

Refused odd_answer(const std::string& what) {
  return refuse(ErrorCode::invalid_argument, "the server's answer makes no sense: " + what);
}

}  // namespace

void put(const TableSelect& from, pb::TableSelect& to) {
  to.set_where(from.where);
  for (const auto& [name, value] : from.parameters) put_value(value, (*to.mutable_parameters())[name]);
  for (const auto& field : from.fields) to.add_fields(field);
  for (const auto& order : from.order_by) {
    auto& added = *to.add_order_by();
    added.set_field(order.field);
    added.set_descending(order.descending);
  }
  if (from.limit) to.set_limit(*from.limit);
  to.set_continue_from(from.continue_from);
}

TableSelect get(const pb::TableSelect& from) {
  TableSelect to;
  to.where = from.where();
  for (const auto& [name, value] : from.parameters()) to.parameters.emplace(name, value_from(value));
  to.fields.assign(from.fields().begin(), from.fields().end());
  for (const auto& order : from.order_by()) to.order_by.push_back({order.field(), order.descending()});
  if (from.has_limit()) to.limit = from.limit();
  to.continue_from = from.continue_from();
  return to;
}

void put(const TablePage& from, pb::SelectResponse& to) {
  for (const auto& field : from.fields) to.add_fields(field);
  for (const FieldType type : from.types) to.add_types(static_cast<std::uint32_t>(type));
  for (const auto& row : from.rows) {
    auto& added = *to.add_rows();
    for (const auto& value : row) put_value(value, *added.add_values());
  }
  to.set_next(from.next);
  to.set_position(from.position.value);
  to.set_looked_at(from.looked_at);
}

Result<TablePage> get(const pb::SelectResponse& from) {
  TablePage to;
  to.fields.assign(from.fields().begin(), from.fields().end());
  if (from.types_size() != from.fields_size()) return odd_answer("a field has no type");
  for (const auto type : from.types()) {
    if (type == 0 || type >= field_types_end) return odd_answer("a field has a type that is not known");
    to.types.push_back(static_cast<FieldType>(type));
  }
  for (const auto& row : from.rows()) {
    if (row.values_size() != from.fields_size()) return odd_answer("a row has not a value a field");
    auto& values = to.rows.emplace_back();
    for (const auto& value : row.values()) values.push_back(value_from(value));
  }
  to.next = from.next();
  to.position = GlobalPosition(from.position());
  to.looked_at = from.looked_at();
  return to;
}

void put(const TablePlan& from, pb::ExplainResponse& to) {
  to.set_path(static_cast<std::uint32_t>(from.path));
  to.set_field(from.field);
  to.set_sorted(from.sorted);
  to.set_backwards(from.backwards);
  to.set_unfiltered(!from.filtered);
}

Result<TablePlan> get(const pb::ExplainResponse& from) {
  if (from.path() > static_cast<std::uint32_t>(TablePlan::Path::scan)) return odd_answer("there is no such plan");
  return TablePlan{static_cast<TablePlan::Path>(from.path()), from.field(), from.sorted(), from.backwards(),
                   !from.unfiltered()};
}

void put(const TableInfo& from, pb::TableInfo& to) {
  to.set_projection(from.projection);
  to.set_version(from.version.value);
  to.set_table(from.schema.name);
  for (const auto& field : from.schema.fields) {
    auto& added = *to.add_fields();
    added.set_name(field.name);
    added.set_type(static_cast<std::uint32_t>(field.type));
    added.set_role(static_cast<std::uint32_t>(field.role));
    added.set_nullable(field.nullable);
  }
  to.set_definition(from.definition);
  to.set_position(from.position.value);
  to.set_complete(from.complete);
  to.set_state(from.state);
  to.set_error(from.error);
  for (const auto& [name, value] : from.figures) {
    auto& added = *to.add_figures();
    added.set_name(name);
    added.set_value(value);
  }
}

Result<TableInfo> get(const pb::TableInfo& from) {
  TableInfo to;
  to.projection = from.projection();
  to.version = SeqNr(from.version());
  to.schema.name = from.table();
  for (const auto& field : from.fields()) {
    if (field.type() == 0 || field.type() >= field_types_end ||
        field.role() > static_cast<std::uint32_t>(FieldRole::unique))
      return odd_answer("a field is of no type");
    to.schema.fields.push_back(
        {field.name(), static_cast<FieldType>(field.type()), static_cast<FieldRole>(field.role()), field.nullable()});
  }
  to.definition = from.definition();
  to.position = GlobalPosition(from.position());
  to.complete = from.complete();
  to.state = from.state();
  to.error = from.error();
  for (const auto& figure : from.figures()) to.figures.emplace_back(figure.name(), figure.value());
  return to;
}

void put(const ParkedRow& from, pb::ParkedRow& to) {
  to.set_position(from.position.value);
  to.set_kind(from.kind);
  to.set_type(from.type);
  to.set_aggregate(from.aggregate);
  to.set_reason(from.reason);
  to.set_attempts(from.attempts);
  if (from.part) to.set_part(*from.part);
}

ParkedRow get(const pb::ParkedRow& from) {
  return {GlobalPosition(from.position()),
          from.kind(),
          from.type(),
          from.aggregate(),
          from.reason(),
          from.attempts(),
          from.has_part() ? std::optional(from.part()) : std::nullopt};
}

}  // namespace evershard::messages
