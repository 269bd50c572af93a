#include "evershard/services/tables/table_select.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/tables/table_keys.hpp"
#include "evershard/storage/index/read_work.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::actors {
namespace {

constexpr std::uint8_t token_format = 1;
constexpr std::size_t page_values_bytes_max = 4u << 20;
constexpr std::size_t sorted_bytes_max = 64u << 20;  ///< of the rows held while sorting: a page gets shorter instead
constexpr std::size_t look_ups_max = 128;
constexpr std::uint64_t row_units = 100;  ///< of storage::spend
constexpr std::size_t marked_bytes_usual = 256;
constexpr std::size_t named_rows_usual = 16;       ///< a select by an index finds a few rows
constexpr std::size_t named_row_bytes_usual = 48;  ///< of an entry and the key it names

void append_part(std::string& out, std::string_view part) {
  storage::append_varint(out, part.size());
  out += part;
}

/// What two selects must have in common for one to go on where the other stopped: all but page size and fields.
std::uint64_t mark_of(const TableShape& table, const TableSelect& select) {
  std::string bytes;
  bytes.reserve(marked_bytes_usual);
  append_part(bytes, table.schema.name);
  storage::append_varint(bytes, table.version);
  append_part(bytes, select.where);
  for (const auto& [name, value] : select.parameters) {
    append_part(bytes, name);
    append_part(bytes, std::to_string(value.variant().index()));
    append_part(bytes, value.as<std::string>() != nullptr ? *value.as<std::string>() : value.text());
  }
  for (const TableOrder& order : select.order_by) {
    append_part(bytes, order.field);
    bytes += order.descending ? '\1' : '\0';
  }
  return storage::checksum(bytes);
}

std::string token_of(std::uint64_t mark, std::string_view last) {
  std::string bytes(1, static_cast<char>(token_format));
  storage::append_fixed(bytes, mark);
  bytes += last;
  return hex(bytes);
}

Result<std::string> read_token(std::string_view token, std::uint64_t mark) {
  const auto refused = [] {
    return refuse(ErrorCode::invalid_argument,
                  "this is not where a page of this select ended: it goes on only with the same filter, parameters, "
                  "order and version of the table");
  };
  std::string bytes;
  if (token.size() % 2 != 0) return refused();
  for (std::size_t i = 0; i < token.size(); i += 2) {
    unsigned byte = 0;
    if (std::from_chars(token.data() + i, token.data() + i + 2, byte, 16).ptr != token.data() + i + 2) return refused();
    bytes += static_cast<char>(byte);
  }
  storage::ByteReader reader(bytes);
  const auto format = reader.fixed<std::uint8_t>();
  const auto of = reader.fixed<std::uint64_t>();
  if (!reader.ok() || format != token_format || of != mark || reader.left() == 0) return refused();
  return std::string(reader.rest());
}

}  // namespace

Result<PreparedSelect> PreparedSelect::make(const TableShape& table, const TableSelect& select) {
  PreparedSelect made(table);
  if (!select.where.empty()) {
    const auto tree = parse_filter(select.where);
    if (!tree) return refuse(tree.error());
    auto filter = Filter::bind(*tree, table.schema, select.parameters);
    if (!filter) return refuse(std::move(filter).error());
    made.filter_ = std::move(*filter);
  } else if (!select.parameters.empty()) {
    return refuse(ErrorCode::invalid_argument, "there are parameters and no filter");
  }
  for (const auto& name : select.fields) {
    const auto field = table.schema.at(name);
    if (!field) return refuse(field.error());
    made.fields_.push_back(*field);
  }
  if (select.fields.empty()) {
    made.fields_.reserve(table.schema.fields.size());
    for (std::size_t i = 0; i < table.schema.fields.size(); ++i) made.fields_.push_back(i);
  }
  if (select.fields.size() > table_fields_max || select.order_by.size() > table_fields_max)
    return refuse(ErrorCode::too_large, "a select has at most " + std::to_string(table_fields_max) + " fields");
  for (const TableOrder& order : select.order_by) {
    const auto field = table.schema.at(order.field);
    if (!field) return refuse(field.error());
    if (!is_ordered(table.schema.fields[*field].type))
      return refuse(ErrorCode::invalid_argument, "field " + in_quotes(order.field) + " is JSON, which has no order");
    made.order_.emplace_back(*field, order.descending);
  }
  made.limit_ = select.limit.value_or(table_page_rows_default);
  if (made.limit_ > table_page_rows_max)
    return refuse(ErrorCode::too_large, "a page has at most " + std::to_string(table_page_rows_max) + " rows, not " +
                                            std::to_string(made.limit_));
  made.mark_ = mark_of(table, select);
  made.path_ = plan_select(table.schema, made.filter_ ? &*made.filter_ : nullptr, made.order_);
  made.path_.plan.filtered = made.filter_.has_value();
  if (!select.continue_from.empty()) {
    auto after = read_token(select.continue_from, made.mark_);
    if (!after) return refuse(std::move(after).error());
    made.after_ = std::move(*after);
  }
  return made;
}

namespace {

/// Entries, each with the key of the row it names, all in one piece of memory. Small allocations are what a short page
/// costs beside RocksDB: the C library keeps a few of a size at hand, and more of them lie scattered over the memory of
/// a process that has worked for a while.
class NamedRows {
 public:
  NamedRows() {
    bytes_.reserve(named_rows_usual * named_row_bytes_usual);
    places_.reserve(named_rows_usual);
  }
  void clear() {
    bytes_.clear();
    places_.clear();
  }
  void add(std::string_view entry, std::string_view row) {
    const std::size_t at = bytes_.size();
    bytes_ += entry;
    table_keys::append_row(bytes_, row);
    places_.push_back({at, at + entry.size(), bytes_.size()});
  }
  [[nodiscard]] std::size_t size() const { return places_.size(); }
  // Until the next change.
  [[nodiscard]] std::string_view entry(std::size_t i) const { return between(places_[i].entry, places_[i].key); }
  [[nodiscard]] std::string_view key(std::size_t i) const { return between(places_[i].key, places_[i].end); }

 private:
  struct Place {
    std::size_t entry, key, end;
  };
  [[nodiscard]] std::string_view between(std::size_t from, std::size_t end) const {
    return std::string_view(bytes_).substr(from, end - from);
  }

  std::string bytes_;
  std::vector<Place> places_;
};

}  // namespace

/// One page under way.
class PreparedSelect::Reading {
 public:
  Reading(const PreparedSelect& select, const storage::ProjectionView& rows)
      : select_(select), table_(*select.table_), rows_(rows) {
    page_.position = rows.checkpoint().position;
    page_.fields.reserve(select.fields_.size());
    page_.types.reserve(select.fields_.size());
    for (const std::size_t field : select.fields_) {
      page_.fields.push_back(table_.schema.fields[field].name);
      page_.types.push_back(table_.schema.fields[field].type);
    }
  }

  Result<TablePage> run() {
    if (select_.limit_ == 0) return std::move(page_);
    storage::RowRange range = select_.path_.range;
    if (!sorting() && select_.after_) {
      if (select_.path_.plan.backwards)
        range.until = *select_.after_;
      else
        range.from = *select_.after_ + '\0';
    }
    if (!range.until.empty() && range.until <= range.from) return std::move(page_);
    if (select_.path_.plan.path == TablePlan::Path::key) {
      const auto row = rows_.get(range.from);
      if (!row) return refuse(row.error());
      if (*row) EVERSHARD_TRY(see(range.from, range.from, **row));
      return std::move(page_);
    }
    const auto cursor = rows_.cursor(range, select_.path_.plan.backwards);
    if (select_.path_.by_entries)
      EVERSHARD_TRY(walk_entries(*cursor));
    else
      EVERSHARD_TRY(walk_rows(*cursor));
    if (sorting()) finish_sorted();
    return std::move(page_);
  }

 private:
  struct Held {
    std::string sort_key;
    std::string row;
    friend bool operator<(const Held& a, const Held& b) { return a.sort_key < b.sort_key; }
  };

  [[nodiscard]] bool sorting() const { return select_.path_.plan.sorted; }

  Result<void> walk_rows(storage::ProjectionCursor& cursor) {
    while (cursor.next()) {
      auto more = see(cursor.key(), cursor.key(), cursor.value());
      if (!more) return refuse(std::move(more).error());
      if (!*more) return {};
    }
    if (cursor.error()) return refuse(*cursor.error());
    return {};
  }

  /// Entries name rows, which are looked up some at a time.
  Result<void> walk_entries(storage::ProjectionCursor& cursor) {
    const TableField& field = table_.schema.fields[select_.path_.field];
    NamedRows named;
    std::vector<std::string_view> keys;
    keys.reserve(named_rows_usual);
    bool full = false;
    const auto see_named = [&](std::size_t i, std::optional<std::string_view> row) -> Result<bool> {
      if (!row)
        return refuse(ErrorCode::corruption, "an entry of field " + in_quotes(field.name) + " of table " +
                                                 in_quotes(table_.schema.name) + " names a row that is not there");
      auto go_on = see(named.entry(i), keys[i], *row);
      full = go_on && !*go_on;
      return go_on;
    };
    const storage::ProjectionView::RowSeen seen = std::cref(see_named);
    const std::size_t most = std::min<std::size_t>(look_ups_max, sorting() ? look_ups_max : select_.limit_ + 1);
    for (bool more = true; more;) {
      named.clear();
      while (named.size() < most && (more = cursor.next())) {
        if (field.role == FieldRole::unique) {
          named.add(cursor.key(), cursor.value());
          continue;
        }
        const auto key = table_keys::row_of_index(cursor.key(), field.type);
        if (!key) return refuse(key.error());
        named.add(cursor.key(), *key);
      }
      if (named.size() == 0) break;
      keys.clear();
      for (std::size_t i = 0; i < named.size(); ++i) keys.push_back(named.key(i));
      if (!sorting() && page_.rows.empty()) page_.rows.reserve(std::min<std::size_t>(named.size(), select_.limit_));
      EVERSHARD_TRY(rows_.look_up(keys, seen));
      if (full) return {};
    }
    if (cursor.error()) return refuse(*cursor.error());
    return {};
  }

  /// `at`: the key on the path; `key`: the row's. Returns: false: the page is full.
  Result<bool> see(std::string_view at, std::string_view key, std::string_view bytes) {
    ++page_.looked_at;
    EVERSHARD_TRY(storage::spend(row_units + bytes.size() / 8));
    EVERSHARD_TRY(table_.layout.check(bytes));
    const RowView row(table_.layout, bytes);
    if (select_.filter_) {
      const auto found = select_.filter_->finds(row);
      if (!found) return found;
      if (!*found) return true;
    }
    if (sorting()) {
      hold(key, row, bytes);
      return true;
    }
    if (page_.rows.size() == select_.limit_ || bytes_ > page_values_bytes_max) {
      page_.next = token_of(select_.mark_, last_);
      return false;
    }
    add(row, bytes.size());
    last_ = at;
    return true;
  }

  void add(const RowView& row, std::size_t bytes) {
    std::vector<TableValue> values;
    values.reserve(select_.fields_.size());
    for (const std::size_t field : select_.fields_) values.push_back(row.value(field));
    page_.rows.push_back(std::move(values));
    bytes_ += bytes;
  }

  void hold(std::string_view key, const RowView& row, std::string_view bytes) {
    std::string sort_key;
    std::string part;
    for (const auto& [field, descending] : select_.order_) {
      part.clear();
      table_keys::append_ordered_or_null(part, table_.layout.type(field), row.value(field));
      if (descending)
        table_keys::append_inverted(sort_key, part);
      else
        sort_key += part;
    }
    if (select_.order_.back().second)
      table_keys::append_inverted(sort_key, key.substr(1));
    else
      sort_key += key.substr(1);
    if (select_.after_ && sort_key <= *select_.after_) return;
    if (more_ && !held_.empty() && held_.front().sort_key < sort_key) return;
    bytes_ += sort_key.size() + bytes.size();
    held_.push_back({std::move(sort_key), std::string(bytes)});
    std::push_heap(held_.begin(), held_.end());
    while (held_.size() > select_.limit_ || (bytes_ > sorted_bytes_max && held_.size() > 1)) {
      std::pop_heap(held_.begin(), held_.end());
      bytes_ -= held_.back().sort_key.size() + held_.back().row.size();
      held_.pop_back();
      more_ = true;
    }
  }

  void finish_sorted() {
    std::sort_heap(held_.begin(), held_.end());
    bytes_ = 0;
    for (const Held& held : held_) {
      if (bytes_ > page_values_bytes_max) {
        more_ = true;
        break;
      }
      add(RowView(table_.layout, held.row), held.row.size());
      last_ = held.sort_key;
    }
    if (more_) page_.next = token_of(select_.mark_, last_);
  }

  const PreparedSelect& select_;
  const TableShape& table_;
  const storage::ProjectionView& rows_;
  TablePage page_;
  std::string last_;
  std::size_t bytes_ = 0;
  std::vector<Held> held_;  ///< a heap, the last in order at its front
  bool more_ = false;       ///< rows were left out behind the rows that are held
};

std::string PreparedSelect::token_behind(std::string_view place) const { return token_of(mark_, place); }

Result<TablePage> PreparedSelect::page(const storage::ProjectionView& rows) const { return Reading(*this, rows).run(); }

}  // namespace evershard::actors
