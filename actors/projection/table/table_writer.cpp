#include "evershard/actors/projection/table/table_writer.hpp"

#include <cmath>
#include <limits>

#include "evershard/actors/projection/json_path.hpp"
#include "evershard/actors/projection/table/table_keys.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/storage/varint.hpp"

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
    case TableFault::Kind::unique: return "unique";
    case TableFault::Kind::value: return "value";
    case TableFault::Kind::handler: return "handler";
    case TableFault::Kind::store: break;
  }
  return "store";
}

std::string encode(const TableCounts& counts) {
  std::string bytes(1, static_cast<char>(counts_format));
  for (const std::uint64_t count : {counts.rows, counts.events, counts.changes, counts.missed, counts.skipped, counts.parked, counts.erased}) storage::append_varint(bytes, count);
  return bytes;
}

Result<TableCounts> decode_counts(const std::string& bytes) {
  TableCounts counts;
  if (bytes.empty()) return counts;
  storage::ByteReader reader(bytes);
  const auto format = reader.fixed<std::uint8_t>();
  for (std::uint64_t* count : {&counts.rows, &counts.events, &counts.changes, &counts.missed, &counts.skipped, &counts.parked, &counts.erased}) *count = reader.varint();
  if (format != counts_format || !reader.done()) return refuse(ErrorCode::corruption, "the counts of a table are damaged");
  return counts;
}

Faultable<TableValue> fitting(const TableField& field, TableValue value) {
  if (value.is_null()) return value;
  switch (field.type) {
    case FieldType::boolean:
      if (value.as<bool>() == nullptr) return not_of_type(field, value);
      return value;
    case FieldType::integer:
      if (value.as<std::int64_t>() == nullptr) return not_of_type(field, value);
      return value;
    case FieldType::number: {
      if (const auto* whole = value.as<std::int64_t>()) return TableValue(static_cast<double>(*whole));
      const auto* number = value.as<double>();
      if (number == nullptr) return not_of_type(field, value);
      if (!std::isfinite(*number)) return bad_value(field_named(field) + " takes finite numbers, not " + value.text());
      return *number == 0 ? TableValue(0.0) : value;
    }
    case FieldType::time: {
      const auto* time = value.as<Timestamp>();
      if (time == nullptr) return not_of_type(field, value);
      if (*time < Timestamp::first() || *time > Timestamp::last()) return bad_value(field_named(field) + " takes times of the years 1 to 9999, not " + time->text());
      return value;
    }
    case FieldType::text:
    case FieldType::bytes:
    case FieldType::json: break;
  }
  const auto* text = value.as<std::string>();
  if (text == nullptr) return not_of_type(field, value);
  if (field.type == FieldType::text && !is_utf8(*text)) return bad_value(field_named(field) + " takes UTF-8, not " + value.text());
  if (field.type == FieldType::json && !is_json_text(*text)) return bad_value(field_named(field) + " takes JSON, not " + value.text());
  if (field.role != FieldRole::normal && text->size() > table_key_bytes_max) {
    return fault(TableFault::Kind::value, ErrorCode::too_large,
                 field_named(field) + " is " + std::string(name_of(field.role)) + ": its values have at most " + std::to_string(table_key_bytes_max) + " bytes, this one has " +
                     std::to_string(text->size()));
  }
  return value;
}

TableWriter::TableWriter(const TableSchema& schema) : schema_(schema), layout_(schema), key_fields_(schema.key()) {
  for (std::size_t i = 0; i < schema.fields.size(); ++i) {
    if (schema.fields[i].role == FieldRole::index || schema.fields[i].role == FieldRole::unique) entry_fields_.push_back(i);
  }
}

Faultable<std::string> TableWriter::encode_key(std::span<const TableValue> key) const {
  std::string encoded;
  if (key.size() != key_fields_.size()) return bad_value("the key has " + std::to_string(key_fields_.size()) + " fields, not " + std::to_string(key.size()));
  for (std::size_t i = 0; i < key.size(); ++i) {
    const TableField& field = schema_.fields[key_fields_[i]];
    if (key[i].is_null()) return bad_value(field_named(field) + " is of the key and is missing");
    const auto value = fitting(field, key[i]);
    if (!value) return Faulted(value.error());
    table_keys::append_ordered(encoded, field.type, *value);
  }
  return encoded;
}

Faultable<std::optional<std::vector<TableValue>>> TableWriter::get(std::span<const TableValue> key, EventRows& rows) const {
  const auto encoded = encode_key(key);
  if (!encoded) return Faulted(encoded.error());
  const auto bytes = rows.get(table_keys::row(*encoded));
  if (!bytes) return rows_failed(bytes.error());
  if (!*bytes) return std::nullopt;
  auto row = layout_.decode(**bytes);
  if (!row) return rows_failed(std::move(row).error());
  return std::move(*row);
}

Faultable<TableValue> TableWriter::sum(std::size_t field, const TableValue& before, const TableValue& by) const {
  const TableField& of = schema_.fields[field];
  if (by.is_null()) return before;
  if (of.type == FieldType::integer) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(before.is_null() ? 0 : *before.as<std::int64_t>(), *by.as<std::int64_t>(), &sum)) {
      return bad_value(field_named(of) + " has no room for " + before.text() + " and " + by.text() + " together");
    }
    return TableValue(sum);
  }
  if (of.type == FieldType::number) return fitting(of, TableValue((before.is_null() ? 0 : *before.as<double>()) + *by.as<double>()));
  return bad_value(field_named(of) + " cannot be incremented: it is of type " + std::string(name_of(of.type)));
}

Faultable<void> TableWriter::set(std::vector<TableValue>& row, bool there, ChangeKind kind, std::span<const FieldValue> fields) const {
  for (const auto& [field, given] : fields) {
    const TableField& of = schema_.fields[field];
    if (of.role == FieldRole::key) return bad_value(field_named(of) + " is of the key: it is not changed");
    auto value = fitting(of, given);
    if (!value) return Faulted(std::move(value).error());
    if (kind == ChangeKind::set_if_absent && !row[field].is_null()) continue;
    if (kind == ChangeKind::increment) {
      value = sum(field, row[field], *value);
      if (!value) return Faulted(std::move(value).error());
    }
    row[field] = std::move(*value);
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (const auto* text = row[i].as<std::string>()) bytes += text->size();
    if (row[i].is_null() && !schema_.fields[i].nullable) {
      return bad_value(field_named(schema_.fields[i]) + (there ? " is not nullable, and would be null" : " is not nullable, and the new row has no value for it"));
    }
  }
  if (bytes > table_row_bytes_max) return fault(TableFault::Kind::value, ErrorCode::too_large, "a row has at most " + std::to_string(table_row_bytes_max) + " bytes, this one has " + std::to_string(bytes));
  return {};
}

Faultable<void> TableWriter::change(ChangeKind kind, std::span<const TableValue> key, std::span<const FieldValue> fields, EventRows& rows, TableCounts& counts) const {
  const auto encoded = encode_key(key);
  if (!encoded) return Faulted(encoded.error());
  std::string row_key = table_keys::row(*encoded);
  const auto bytes = rows.get(row_key);
  if (!bytes) return rows_failed(bytes.error());

  std::optional<std::vector<TableValue>> before;
  if (*bytes) {
    auto decoded = layout_.decode(**bytes);
    if (!decoded) return rows_failed(std::move(decoded).error());
    before = std::move(*decoded);
  }
  if (!before && (kind == ChangeKind::update || kind == ChangeKind::erase)) {
    ++counts.missed;
    return {};
  }
  if (kind == ChangeKind::erase) {
    if (auto moved = move_entries(*encoded, &*before, nullptr, rows); !moved) return moved;
    rows.erase(std::move(row_key));
    --counts.rows;
    ++counts.changes;
    return {};
  }

  std::vector<TableValue> after;
  if (before) {
    after = *before;
  } else {
    after.resize(schema_.fields.size());
    for (std::size_t i = 0; i < key.size(); ++i) after[key_fields_[i]] = *fitting(schema_.fields[key_fields_[i]], key[i]);
  }
  if (auto done = set(after, before.has_value(), kind, fields); !done) return done;
  if (before && *before == after) return {};
  if (auto moved = move_entries(*encoded, before ? &*before : nullptr, &after, rows); !moved) return moved;
  if (before) {
    rows.put(std::move(row_key), layout_.encode(after));
  } else {
    rows.put_new(std::move(row_key), layout_.encode(after));
    ++counts.rows;
  }
  ++counts.changes;
  return {};
}

Faultable<void> TableWriter::move_entries(const std::string& key, const std::vector<TableValue>* before, const std::vector<TableValue>* after, EventRows& rows) const {
  for (const std::size_t field : entry_fields_) {
    const TableField& of = schema_.fields[field];
    const TableValue* old = before == nullptr ? nullptr : &(*before)[field];
    const TableValue* now = after == nullptr ? nullptr : &(*after)[field];
    if (old != nullptr && now != nullptr && *old == *now) continue;
    if (of.role == FieldRole::index) {
      if (old != nullptr) rows.erase(table_keys::index_prefix(field, of.type, *old) + key);
      if (now != nullptr) rows.put_new(table_keys::index_prefix(field, of.type, *now) + key, {});
      continue;
    }
    if (now != nullptr && !now->is_null()) {
      std::string entry = table_keys::unique(field, of.type, *now);
      const auto holder = rows.get(entry);
      if (!holder) return rows_failed(holder.error());
      if (*holder && **holder != key) {
        return fault(TableFault::Kind::unique, ErrorCode::invalid_argument, field_named(of) + " is unique, and another row has the value " + now->text() + " already");
      }
      if (*holder) rows.put(std::move(entry), key);
      else rows.put_new(std::move(entry), key);
    }
    if (old != nullptr && !old->is_null()) rows.erase(table_keys::unique(field, of.type, *old));
  }
  return {};
}

}  // namespace evershard::actors
