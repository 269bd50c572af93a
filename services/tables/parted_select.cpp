#include "evershard/services/tables/parted_select.hpp"

#include <algorithm>
#include <utility>

#include "evershard/services/tables/table_definition.hpp"
#include "evershard/services/tables/table_keys.hpp"

namespace evershard::actors {
namespace {

constexpr std::size_t merged_bytes_max = 4u << 20;

std::size_t bytes_of_row(const std::vector<TableValue>& row) {
  std::size_t bytes = 0;
  for (const auto& value : row)
    bytes += value.as<std::string>() != nullptr ? value.as<std::string>()->size() : sizeof(std::int64_t);
  return bytes;
}

}  // namespace

Result<PartedSelect> PartedSelect::make(const TableShape& table, const TableSelect& select, std::uint32_t parts) {
  auto prepared = PreparedSelect::make(table, select);
  if (!prepared) return refuse(std::move(prepared).error());
  PartedSelect made(std::move(*prepared));
  const auto& whole = made.whole_;
  if (whole.path_.plan.path == TablePlan::Path::key)
    made.only_ = part_of_key(std::string_view(whole.path_.range.from).substr(1), parts);
  made.for_part_ = select;
  std::vector<bool> wanted(table.schema.fields.size());
  for (const auto field : whole.fields_) wanted[field] = true;
  for (const auto field : table.schema.key()) wanted[field] = true;
  for (const auto& [field, descending] : whole.order_) wanted[field] = true;
  if (whole.path_.by_entries) wanted[whole.path_.field] = true;
  made.for_part_.fields.clear();
  made.column_.resize(wanted.size());
  for (std::size_t field = 0; field < wanted.size(); ++field) {
    if (!wanted[field]) continue;
    made.column_[field] = made.for_part_.fields.size();
    made.for_part_.fields.push_back(table.schema.fields[field].name);
  }
  return made;
}

/// Where a row stands on the path, or in the order: as PreparedSelect::Reading notes it.
std::string PartedSelect::place_of(const std::vector<TableValue>& row) const {
  const auto& table = *whole_.table_;
  std::string key;
  for (const auto field : table.schema.key())
    table_keys::append_ordered(key, table.layout.type(field), value(row, field));
  const auto& path = whole_.path_;
  if (!path.plan.sorted) {
    if (!path.by_entries) return table_keys::row(key);
    auto place = table_keys::index_field_prefix(path.field);
    table_keys::append_ordered_or_null(place, table.layout.type(path.field), value(row, path.field));
    return place + key;
  }
  std::string place;
  for (const auto& [field, descending] : whole_.order_) {
    std::string part;
    table_keys::append_ordered_or_null(part, table.layout.type(field), value(row, field));
    if (descending)
      table_keys::append_inverted(place, part);
    else
      place += part;
  }
  if (whole_.order_.back().second)
    table_keys::append_inverted(place, key);
  else
    place += key;
  return place;
}

Result<TablePage> PartedSelect::merge(std::vector<TablePage> pages) const {
  TablePage merged;
  const auto& schema = whole_.table_->schema;
  for (const auto field : whole_.fields_) {
    merged.fields.push_back(schema.fields[field].name);
    merged.types.push_back(schema.fields[field].type);
  }
  struct Head {
    std::size_t page = 0, row = 0;
    std::string place{};
  };
  const bool backwards = !whole_.path_.plan.sorted && whole_.path_.plan.backwards;
  const auto later = [&](const Head& a, const Head& b) { return backwards ? a.place < b.place : a.place > b.place; };
  std::vector<Head> heads;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (pages[i].fields != for_part_.fields)
      return refuse(ErrorCode::unavailable, "a part answered with other fields than it was asked for");
    merged.position = i == 0 ? pages[i].position : std::min(merged.position, pages[i].position);
    merged.looked_at += pages[i].looked_at;
    if (!pages[i].rows.empty()) heads.push_back({i, 0, place_of(pages[i].rows[0])});
  }
  std::make_heap(heads.begin(), heads.end(), later);
  std::string last;
  std::size_t bytes = 0;
  while (!heads.empty()) {
    if (merged.rows.size() == whole_.limit_ || bytes > merged_bytes_max) {
      merged.next = whole_.token_behind(last);
      return merged;
    }
    std::pop_heap(heads.begin(), heads.end(), later);
    auto& head = heads.back();
    auto& page = pages[head.page];
    auto& row = page.rows[head.row];
    std::vector<TableValue> values;
    values.reserve(whole_.fields_.size());
    for (const auto field : whole_.fields_) values.push_back(value(row, field));
    bytes += bytes_of_row(values);
    merged.rows.push_back(std::move(values));
    last = std::move(head.place);
    if (++head.row < page.rows.size()) {
      head.place = place_of(page.rows[head.row]);
      std::push_heap(heads.begin(), heads.end(), later);
      continue;
    }
    if (!page.next.empty()) {  // what follows in that part is not known here: it may come before all others
      merged.next = whole_.token_behind(last);
      return merged;
    }
    heads.pop_back();
  }
  return merged;
}

}  // namespace evershard::actors
