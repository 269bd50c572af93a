#include "evershard/services/tables/table_plan.hpp"

#include <algorithm>

#include "evershard/services/tables/table_keys.hpp"

namespace evershard::actors {
namespace {

using Needed = Filter::Needed;
using Order = std::vector<std::pair<std::size_t, bool>>;

const Needed* equality(const std::vector<Needed>& needed, std::size_t field) {
  const auto found = std::find_if(needed.begin(), needed.end(), [&](const Needed& each) {
    return each.field == field && each.op == CompareOp::equal;
  });
  return found == needed.end() ? nullptr : &*found;
}

/// Narrows [from, until) of keys that begin with `prefix` and then a value of `type`; false: nothing said of the field.
bool narrow(storage::RowRange& range, const std::vector<Needed>& needed, std::size_t field, FieldType type,
            const std::string& prefix) {
  bool narrowed = false;
  for (const Needed& each : needed) {
    if (each.field != field) continue;
    std::string at = prefix;
    table_keys::append_ordered(at, type, each.value);
    const std::string behind = table_keys::behind(at);
    const bool from_here = each.op == CompareOp::greater_equal || each.op == CompareOp::equal;
    const bool to_here = each.op == CompareOp::less_equal || each.op == CompareOp::equal;
    if (from_here || each.op == CompareOp::greater) range.from = std::max(range.from, from_here ? at : behind);
    if (to_here || each.op == CompareOp::less) range.until = std::min(range.until, to_here ? behind : at);
    narrowed = true;
  }
  return narrowed;
}

storage::RowRange all_of(const std::string& prefix) { return {prefix, table_keys::behind(prefix)}; }

/// Whether the order asked for is the one rows come in when these fields lead, one after the other; all of them one
/// way.
bool leads(const std::vector<std::size_t>& leading, const Order& order) {
  if (order.size() > leading.size()) return false;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i].first != leading[i] || order[i].second != order[0].second) return false;
  }
  return true;
}

void put_in_order(TablePath& path, const std::vector<std::size_t>& leading, const Order& order) {
  if (order.empty()) return;
  path.plan.sorted = !leads(leading, order);
  path.plan.backwards = !path.plan.sorted && order[0].second;
}

bool has_entries(const TableField& field) { return field.role == FieldRole::index || field.role == FieldRole::unique; }

TablePath by_entries(const TableSchema& schema, std::size_t field, TablePlan::Path path) {
  return {{path, schema.fields[field].name}, {}, field, true};
}

std::string value_prefix(const TableSchema& schema, std::size_t field) {
  if (schema.fields[field].role == FieldRole::unique) return table_keys::unique_field_prefix(field);
  return table_keys::index_field_prefix(field) + '\1';  // null is not compared
}

}  // namespace

TablePath plan_select(const TableSchema& schema, const Filter* filter, const Order& order) {
  const auto needed = filter == nullptr ? std::vector<Needed>{} : filter->needed();
  const auto key_fields = schema.key();

  std::string key;
  const bool whole_key = std::all_of(key_fields.begin(), key_fields.end(), [&](std::size_t field) {
    const Needed* value = equality(needed, field);
    if (value != nullptr) table_keys::append_ordered(key, schema.fields[field].type, value->value);
    return value != nullptr;
  });
  if (whole_key) return {{TablePlan::Path::key}, {table_keys::row(key), table_keys::row(key) + '\0'}};

  for (const auto& [role, way] :
       {std::pair{FieldRole::unique, TablePlan::Path::unique}, std::pair{FieldRole::index, TablePlan::Path::index}}) {
    for (std::size_t field = 0; field < schema.fields.size(); ++field) {
      const Needed* value = schema.fields[field].role == role ? equality(needed, field) : nullptr;
      if (value == nullptr) continue;
      TablePath path = by_entries(schema, field, way);
      std::string at = value_prefix(schema, field);
      table_keys::append_ordered(at, schema.fields[field].type, value->value);
      path.range = all_of(at);
      std::vector<std::size_t> leading = key_fields;
      if (!order.empty() && order[0].first == field) leading.insert(leading.begin(), field);
      put_in_order(path, leading, order);
      return path;
    }
  }
  for (std::size_t field = 0; field < schema.fields.size(); ++field) {
    if (!has_entries(schema.fields[field])) continue;
    TablePath path = by_entries(schema, field, TablePlan::Path::index_range);
    const std::string prefix = value_prefix(schema, field);
    path.range = all_of(prefix);
    if (!narrow(path.range, needed, field, schema.fields[field].type, prefix)) continue;
    std::vector<std::size_t> leading{field};
    leading.insert(leading.end(), key_fields.begin(), key_fields.end());
    put_in_order(path, leading, order);
    return path;
  }

  const std::string rows = table_keys::part_prefix(table_keys::Part::row);
  TablePath path{{TablePlan::Path::scan}, all_of(rows)};
  if (narrow(path.range, needed, key_fields[0], schema.fields[key_fields[0]].type, rows))
    path.plan.path = TablePlan::Path::key_range;
  put_in_order(path, key_fields, order);
  // Entries of a unique field leave out rows where it is null.
  const bool whole_index =
      path.plan.sorted && filter == nullptr && schema.fields[order[0].first].role == FieldRole::index;
  if (!whole_index) return path;
  const std::size_t field = order[0].first;
  TablePath walk = by_entries(schema, field, TablePlan::Path::index_range);
  walk.range = all_of(table_keys::index_field_prefix(field));
  std::vector<std::size_t> leading{field};
  leading.insert(leading.end(), key_fields.begin(), key_fields.end());
  put_in_order(walk, leading, order);
  return walk.plan.sorted ? path : walk;
}

}  // namespace evershard::actors
