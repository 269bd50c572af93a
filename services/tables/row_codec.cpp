#include "evershard/services/tables/row_codec.hpp"

#include <bit>

#include "evershard/protocol/check.hpp"

namespace evershard::actors {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

std::uint32_t slot_bytes(FieldType type) {
  if (type == FieldType::boolean) return 1;
  return is_string(type) ? 4 : 8;
}

template <class T>
void put_slot(std::string& row, std::size_t at, T value) {
  std::memcpy(row.data() + at, &value, sizeof value);
}

}  // namespace

RowLayout::RowLayout(const TableSchema& schema) : table_(schema.name), string_before_(schema.fields.size(), first) {
  std::uint32_t at = 2 + static_cast<std::uint32_t>((schema.fields.size() + 7) / 8);
  for (std::size_t i = 0; i < schema.fields.size(); ++i) {
    const FieldType type = schema.fields[i].type;
    types_.push_back(type);
    slots_.push_back(at);
    if (is_string(type)) {
      if (!string_slots_.empty()) string_before_[i] = string_slots_.back();
      string_slots_.push_back(at);
    }
    at += slot_bytes(type);
  }
  heap_ = at;
}

std::string RowLayout::encode(std::span<const TableValue> row) const {
  EVERSHARD_CHECK(row.size() == types_.size(), "a row has a value a field");
  std::size_t size = heap_;
  for (const TableValue& value : row) {
    if (const auto* text = value.as<std::string>()) size += text->size();
  }
  std::string bytes(heap_, '\0');
  bytes.reserve(size);
  bytes[0] = static_cast<char>(row_format);
  bytes[1] = static_cast<char>(types_.size());
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const TableValue& value = row[i];
    if (value.is_null())
      bytes[2 + i / 8] = static_cast<char>(static_cast<unsigned char>(bytes[2 + i / 8]) | 1u << i % 8);
    if (is_string(types_[i])) {
      if (const auto* text = value.as<std::string>()) bytes += *text;
      put_slot(bytes, slots_[i], static_cast<std::uint32_t>(bytes.size() - heap_));
      continue;
    }
    if (value.is_null()) continue;
    switch (types_[i]) {
      case FieldType::boolean:
        bytes[slots_[i]] = *value.as<bool>() ? '\1' : '\0';
        break;
      case FieldType::integer:
        put_slot(bytes, slots_[i], *value.as<std::int64_t>());
        break;
      case FieldType::time:
        put_slot(bytes, slots_[i], value.as<Timestamp>()->micros);
        break;
      default:
        put_slot(bytes, slots_[i], *value.as<double>());
        break;
    }
  }
  return bytes;
}

bool RowLayout::fits(std::string_view bytes) const {
  if (bytes.size() < heap_ || bytes[0] != static_cast<char>(row_format) || bytes[1] != static_cast<char>(types_.size()))
    return false;
  const std::size_t heap = bytes.size() - heap_;
  std::uint32_t before = 0;
  for (const std::uint32_t slot : string_slots_) {
    std::uint32_t end;
    std::memcpy(&end, bytes.data() + slot, sizeof end);
    if (end < before) return false;
    before = end;
  }
  return before == heap;
}

Result<std::vector<TableValue>> RowLayout::decode(std::string_view bytes) const {
  EVERSHARD_TRY(check(bytes));
  const RowView view(*this, bytes);
  std::vector<TableValue> row;
  row.reserve(types_.size());
  for (std::size_t i = 0; i < types_.size(); ++i) row.push_back(view.value(i));
  return row;
}

TableValue RowView::value(std::size_t field) const {
  if (is_null(field)) return {};
  switch (layout_->types_[field]) {
    case FieldType::boolean:
      return TableValue(boolean(field));
    case FieldType::integer:
      return TableValue(integer(field));
    case FieldType::time:
      return TableValue(Timestamp{integer(field)});
    case FieldType::number:
      return TableValue(number(field));
    default:
      return TableValue(string(field));
  }
}

}  // namespace evershard::actors
