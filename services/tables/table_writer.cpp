#include "evershard/services/tables/table_writer.hpp"

#include <cmath>
#include <limits>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/services/indexes/json_path.hpp"
#include "evershard/services/tables/table_keys.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::actors {
namespace {

constexpr std::uint8_t counts_format = 1;

std::string field_named(const TableField& field) { return "field " + in_quotes(field.name); }

Faulted not_of_type(const TableField& field, const TableValue& value) {
  return bad_value(field_named(field) + " takes " + std::string(name_of(field.type)) + ", not " + value.text());
}

}  // namespace

std::string_view name_of(TableFault::Kind kind) {
  switch (kind) {
    case TableFault::Kind::unique:
      return "unique";
    case TableFault::Kind::value:
      return "value";
    case TableFault::Kind::handler:
      return "handler";
    case TableFault::Kind::store:
      break;
  }
  return "store";
}

std::string encode(const TableCounts& counts) {
  std::string bytes(1, static_cast<char>(counts_format));
  for (const std::uint64_t count :
       {counts.rows, counts.events, counts.changes, counts.missed, counts.skipped, counts.parked, counts.erased})
    storage::append_varint(bytes, count);
  return bytes;
}

Result<TableCounts> decode_counts(const std::string& bytes) {
  TableCounts counts;
  if (bytes.empty()) return counts;
  storage::ByteReader reader(bytes);
  const auto format = reader.fixed<std::uint8_t>();
  for (std::uint64_t* count :
       {&counts.rows, &counts.events, &counts.changes, &counts.missed, &counts.skipped, &counts.parked, &counts.erased})
    *count = reader.varint();
  if (format != counts_format || !reader.done())
    return refuse(ErrorCode::corruption, "the counts of a table are damaged");
  return counts;
}

Faultable<void> fit(const TableField& field, TableValue& value) {
  if (value.is_null()) return {};
  switch (field.type) {
    case FieldType::boolean:
      if (value.as<bool>() == nullptr) return not_of_type(field, value);
      return {};
    case FieldType::integer:
      if (value.as<std::int64_t>() == nullptr) return not_of_type(field, value);
      return {};
    case FieldType::number: {
      if (const auto* whole = value.as<std::int64_t>()) {
        value = TableValue(static_cast<double>(*whole));
        return {};
      }
      const auto* number = value.as<double>();
      if (number == nullptr) return not_of_type(field, value);
      if (!std::isfinite(*number)) return bad_value(field_named(field) + " takes finite numbers, not " + value.text());
      if (*number == 0) value = TableValue(0.0);
      return {};
    }
    case FieldType::time: {
      const auto* time = value.as<Timestamp>();
      if (time == nullptr) return not_of_type(field, value);
      if (*time < Timestamp::first() || *time > Timestamp::last())
        return bad_value(field_named(field) + " takes times of the years 1 to 9999, not " + time->text());
      return {};
    }
    case FieldType::text:
    case FieldType::bytes:
    case FieldType::json:
      break;
  }
  const auto* text = value.as<std::string>();
  if (text == nullptr) return not_of_type(field, value);
  if (field.type == FieldType::text && !is_utf8(*text))
    return bad_value(field_named(field) + " takes UTF-8, not " + value.text());
  if (field.type == FieldType::json && !is_json_text(*text))
    return bad_value(field_named(field) + " takes JSON, not " + value.text());
  if (field.role != FieldRole::normal && text->size() > table_key_bytes_max) {
    return fault(TableFault::Kind::value, ErrorCode::too_large,
                 field_named(field) + " is " + std::string(name_of(field.role)) + ": its values have at most " +
                     std::to_string(table_key_bytes_max) + " bytes, this one has " + std::to_string(text->size()));
  }
  return {};
}

TableWriter::TableWriter(const TableSchema& schema) : schema_(schema), layout_(schema), key_fields_(schema.key()) {
  for (std::size_t i = 0; i < schema.fields.size(); ++i) {
    if (schema.fields[i].role == FieldRole::index || schema.fields[i].role == FieldRole::unique)
      entry_fields_.push_back(i);
  }
}

Faultable<std::string> TableWriter::row_key(std::span<TableValue> key) const {
  if (key.size() != key_fields_.size())
    return bad_value("the key has " + std::to_string(key_fields_.size()) + " fields, not " +
                     std::to_string(key.size()));
  std::string encoded = table_keys::part_prefix(table_keys::Part::row);
  for (std::size_t i = 0; i < key.size(); ++i) {
    const TableField& field = schema_.fields[key_fields_[i]];
    if (key[i].is_null()) return bad_value(field_named(field) + " is of the key and is missing");
    if (auto fits = fit(field, key[i]); !fits) return Faulted(std::move(fits).error());
    table_keys::append_ordered(encoded, field.type, key[i]);
  }
  return encoded;
}

Faultable<std::optional<std::vector<TableValue>>> TableWriter::get(std::span<TableValue> key, EventRows& rows) const {
  const auto of_row = row_key(key);
  if (!of_row) return Faulted(of_row.error());
  const auto bytes = rows.get(*of_row);
  if (!bytes) return rows_failed(bytes.error());
  if (!*bytes) return std::nullopt;
  auto row = layout_.decode(**bytes);
  if (!row) return rows_failed(std::move(row).error());
  return std::move(*row);
}

Faultable<void> TableWriter::sum(std::size_t field, const TableValue& before, TableValue& by) const {
  const TableField& of = schema_.fields[field];
  if (by.is_null()) {
    by = before;
    return {};
  }
  if (of.type == FieldType::integer) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(before.is_null() ? 0 : *before.as<std::int64_t>(), *by.as<std::int64_t>(), &sum)) {
      return bad_value(field_named(of) + " has no room for " + before.text() + " and " + by.text() + " together");
    }
    by = TableValue(sum);
    return {};
  }
  if (of.type == FieldType::number) {
    by = TableValue((before.is_null() ? 0 : *before.as<double>()) + *by.as<double>());
    return fit(of, by);
  }
  return bad_value(field_named(of) + " cannot be incremented: it is of type " + std::string(name_of(of.type)));
}

Faultable<bool> TableWriter::set(std::vector<TableValue>& row, bool there, ChangeKind kind,
                                 std::span<FieldValue> fields) const {
  bool changed = false;
  for (auto& [field, value] : fields) {
    const TableField& of = schema_.fields[field];
    if (of.role == FieldRole::key) return bad_value(field_named(of) + " is of the key: it is not changed");
    if (auto fits = fit(of, value); !fits) return Faulted(std::move(fits).error());
    if (kind == ChangeKind::set_if_absent && !row[field].is_null()) continue;
    if (kind == ChangeKind::increment) {
      if (auto added = sum(field, row[field], value); !added) return Faulted(std::move(added).error());
    }
    if (row[field] == value) continue;
    row[field] = std::move(value);
    changed = true;
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (const auto* text = row[i].as<std::string>()) bytes += text->size();
    if (row[i].is_null() && !schema_.fields[i].nullable) {
      return bad_value(
          field_named(schema_.fields[i]) +
          (there ? " is not nullable, and would be null" : " is not nullable, and the new row has no value for it"));
    }
  }
  if (bytes > table_row_bytes_max)
    return fault(
        TableFault::Kind::value, ErrorCode::too_large,
        "a row has at most " + std::to_string(table_row_bytes_max) + " bytes, this one has " + std::to_string(bytes));
  return changed;
}

Faultable<void> TableWriter::change(ChangeKind kind, std::span<TableValue> key, std::span<FieldValue> fields,
                                    EventRows& rows, TableCounts& counts) const {
  auto of_row = row_key(key);
  if (!of_row) return Faulted(std::move(of_row).error());
  const auto encoded = std::string_view(*of_row).substr(1);
  const auto bytes = rows.get(*of_row);
  if (!bytes) return rows_failed(bytes.error());

  std::optional<RowView> before;
  if (*bytes) {
    if (auto fits = layout_.check(**bytes); !fits) return rows_failed(std::move(fits).error());
    before.emplace(layout_, **bytes);
  }
  if (!before && (kind == ChangeKind::update || kind == ChangeKind::erase)) {
    ++counts.missed;
    return {};
  }
  if (kind == ChangeKind::erase) {
    if (auto moved = move_entries(encoded, &*before, nullptr, rows); !moved) return moved;
    rows.erase(std::move(*of_row));
    --counts.rows;
    ++counts.changes;
    return {};
  }

  std::vector<TableValue> row(schema_.fields.size());
  if (before) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = before->value(i);
  } else {
    for (std::size_t i = 0; i < key.size(); ++i) row[key_fields_[i]] = std::move(key[i]);
  }
  const auto changed = set(row, before.has_value(), kind, fields);
  if (!changed) return Faulted(changed.error());
  if (before && !*changed) return {};
  if (auto moved = move_entries(encoded, before ? &*before : nullptr, &row, rows); !moved) return moved;
  if (before) {
    rows.put(std::move(*of_row), layout_.encode(row));
  } else {
    rows.put_new(std::move(*of_row), layout_.encode(row));
    ++counts.rows;
  }
  ++counts.changes;
  return {};
}

Faultable<void> TableWriter::move_entries(std::string_view key, const RowView* before,
                                          const std::vector<TableValue>* after, EventRows& rows) const {
  for (const std::size_t field : entry_fields_) {
    const TableField& of = schema_.fields[field];
    const auto old = before == nullptr ? std::nullopt : std::optional(before->value(field));
    const TableValue* now = after == nullptr ? nullptr : &(*after)[field];
    if (old && now != nullptr && *old == *now) continue;
    if (of.role == FieldRole::index) {
      if (old) rows.erase(table_keys::index(field, of.type, *old, key));
      if (now != nullptr) rows.put_new(table_keys::index(field, of.type, *now, key), {});
      continue;
    }
    if (now != nullptr && !now->is_null()) {
      std::string entry = table_keys::unique(field, of.type, *now);
      const auto holder = rows.get(entry);
      if (!holder) return rows_failed(holder.error());
      if (*holder && **holder != key) {
        return fault(TableFault::Kind::unique, ErrorCode::invalid_argument,
                     field_named(of) + " is unique, and another row has the value " + now->text() + " already");
      }
      if (*holder)
        rows.put(std::move(entry), std::string(key));
      else
        rows.put_new(std::move(entry), std::string(key));
    }
    if (old && !old->is_null()) rows.erase(table_keys::unique(field, of.type, *old));
  }
  return {};
}

}  // namespace evershard::actors
