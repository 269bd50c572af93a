// Printing: events, rows and single answers, in the format that was asked for.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/api/json/json_text.hpp"
#include "evershard/api/json/payload_types.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/table.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::cli {

/// Several answers: a table, a JSON array, or a JSON value a line. finish() ends it, also when there was none.
class ListPrinter {
 public:
  ListPrinter(const Invocation& invocation, std::vector<Table::Column> columns);
  /// Either of the two is used; both are cheap to leave empty.
  void json(std::string_view value);
  void row(std::vector<std::string> cells) { table_.row(std::move(cells)); }
  /// Shows what waits, for answers that come one by one.
  void flush();
  void finish();

 private:
  const Invocation& invocation_;
  std::size_t columns_;
  Table table_;
  bool first_ = true;
};

class EventPrinter {
 public:
  EventPrinter(const Invocation& invocation, const PayloadTypes& types);
  void event(const RecordedEvent& event);
  void flush() { list_.flush(); }
  void finish() { list_.finish(); }

 private:
  const Invocation& invocation_;
  const PayloadTypes& types_;
  ListPrinter list_;
  JsonText json_;
};

/// A single answer: `{...}` on a line, or its parts under each other.
void print_one(const Invocation& invocation, const JsonText& json,
               const std::vector<std::pair<std::string, std::string>>& parts);

/// On standard error: the list was cut, and how it goes on.
void say_there_is_more(std::string_view how);

/// `order-1, order-2, ... (25 in all)`, or `none`.
[[nodiscard]] std::string some_of(const std::vector<std::string>& names);

/// A payload in a cell: as it is where it is text, else its size.
[[nodiscard]] std::string payload_cell(std::string_view payload);
/// The payload as the registered types decode it, where they decode it.
[[nodiscard]] std::string payload_cell(const RecordedEvent& event, const PayloadTypes& types);
[[nodiscard]] std::string payload_cell(const RecordedSnapshot& snapshot, const PayloadTypes& types);

}  // namespace evershard::cli
