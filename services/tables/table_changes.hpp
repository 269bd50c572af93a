// TableChanges: what a handler in C++ does with rows, while it is given an event.

#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/services/tables/table_writer.hpp"

namespace evershard::actors {

/// `{"total", 42}`
using NamedValue = std::pair<std::string_view, TableValue>;

/// A row with its fields by name.
class TableRow {
 public:
  TableRow(const TableSchema& schema, std::vector<TableValue> values) : schema_(&schema), values_(std::move(values)) {}
  /// Null also where there is no such field.
  [[nodiscard]] const TableValue& operator[](std::string_view field) const;
  [[nodiscard]] const std::vector<TableValue>& values() const { return values_; }

 private:
  const TableSchema* schema_;
  std::vector<TableValue> values_;
};

/// One event's changes, seen by each other in the order they are made; all of them happen or none. After the first one
/// that cannot be, nothing more is done and every get() finds nothing: the event is at fault, and the policy of the
/// table says what becomes of it.
class TableChanges {
 public:
  TableChanges(const TableWriter& writer, EventRows& rows, TableCounts& counts)
      : writer_(writer), rows_(rows), counts_(counts) {}

  using Values = std::span<const NamedValue>;
  // Shape of each: all fields of the key, and others.
  void upsert(Values values) { change(ChangeKind::upsert, values); }
  void update(Values values) { change(ChangeKind::update, values); }
  void erase(Values key) { change(ChangeKind::erase, key); }
  void increment(Values values) { change(ChangeKind::increment, values); }
  void set_if_absent(Values values) { change(ChangeKind::set_if_absent, values); }
  void upsert(std::initializer_list<NamedValue> values) { upsert(Values(values)); }
  void update(std::initializer_list<NamedValue> values) { update(Values(values)); }
  void erase(std::initializer_list<NamedValue> key) { erase(Values(key)); }
  void increment(std::initializer_list<NamedValue> values) { increment(Values(values)); }
  void set_if_absent(std::initializer_list<NamedValue> values) { set_if_absent(Values(values)); }
  /// As the changes before left it.
  [[nodiscard]] std::optional<TableRow> get(Values key);
  [[nodiscard]] std::optional<TableRow> get(std::initializer_list<NamedValue> key) { return get(Values(key)); }

  /// Counts an event whose payload is gone, and which does nothing therefore.
  void note_erased() { ++counts_.erased; }

  /// The first change that could not be made; nothing: all changes could.
  [[nodiscard]] const std::optional<TableFault>& fault() const { return fault_; }

 private:
  void change(ChangeKind kind, Values values);
  /// Splits into key and others; false: a fault was noted.
  bool split(Values values, std::vector<TableValue>& key, std::vector<FieldValue>& fields);

  const TableWriter& writer_;
  EventRows& rows_;
  TableCounts& counts_;
  std::optional<TableFault> fault_;
};

}  // namespace evershard::actors
