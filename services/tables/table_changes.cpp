#include "evershard/services/tables/table_changes.hpp"

#include <algorithm>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::actors {

const TableValue& TableRow::operator[](std::string_view field) const {
  static const TableValue null;
  const auto found = schema_->find(field);
  return found ? values_[*found] : null;
}

bool TableChanges::split(Values values, std::vector<TableValue>& key, std::vector<FieldValue>& fields) {
  const auto& key_fields = writer_.key_fields();
  key.resize(key_fields.size());
  std::uint64_t seen = 0;
  for (const auto& [name, value] : values) {
    const auto field = writer_.schema().at(name);
    if (!field) {
      fault_ = TableFault{TableFault::Kind::value, field.error()};
      return false;
    }
    if (seen >> *field & 1) {
      fault_ = bad_value("field " + in_quotes(name) + " is given twice").value();
      return false;
    }
    seen |= std::uint64_t{1} << *field;
    const auto of_key = std::find(key_fields.begin(), key_fields.end(), *field);
    if (of_key == key_fields.end())
      fields.emplace_back(*field, value);
    else
      key[static_cast<std::size_t>(of_key - key_fields.begin())] = value;
  }
  return true;
}

void TableChanges::change(ChangeKind kind, Values values) {
  if (fault_) return;
  std::vector<TableValue> key;
  std::vector<FieldValue> fields;
  if (!split(values, key, fields)) return;
  if (auto done = writer_.change(kind, key, fields, rows_, counts_); !done) fault_ = std::move(done).error();
}

std::optional<TableRow> TableChanges::get(Values values) {
  if (fault_) return {};
  std::vector<TableValue> key;
  std::vector<FieldValue> fields;
  if (!split(values, key, fields)) return {};
  auto row = writer_.get(key, rows_);
  if (!row) {
    fault_ = std::move(row).error();
    return {};
  }
  if (!*row) return {};
  return TableRow(writer_.schema(), std::move(**row));
}

}  // namespace evershard::actors
