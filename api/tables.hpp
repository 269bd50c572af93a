// Tables: reading what table projections made, in this process or of a server. How they are created: projections.hpp.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/table_read.hpp"
#include "evershard/protocol/table_schema.hpp"

namespace evershard {

struct TableReading {
  std::optional<GlobalPosition> at_least{};  ///< wait until the table has passed it
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  std::optional<SeqNr> version{};  ///< absent: the newest that has caught up once, else the oldest there is
};

struct TableInfo {
  std::string projection;  ///< its name: what a table is asked for by
  SeqNr version;
  TableSchema schema;
  std::string definition;  ///< JSON, in its one form
  GlobalPosition position;
  bool complete = false;  ///< it has caught up once
  std::string state;      ///< building, live, paused, failed, waiting
  std::string error;      ///< why the table stands still; empty: it does not
  std::vector<std::pair<std::string, std::uint64_t>>
      figures;  ///< rows, events, changes, missed, skipped, parked, erased
};

/// An event that has no effect on a table yet, because it does not fit.
struct ParkedRow {
  GlobalPosition position;
  std::string kind;       ///< unique, value, handler
  std::string type;       ///< the event's
  std::string aggregate;  ///< its text; empty: none
  std::string reason;
  std::uint64_t attempts = 1;
  std::optional<std::uint32_t> part{};  ///< of a table in parts: which has it

  friend bool operator==(const ParkedRow&, const ParkedRow&) = default;
};

/// From any thread. `table` is the projection's name.
class Tables {
 public:
  virtual ~Tables() = default;

  /// One page. Errors: not_found (no such table, or version), invalid_argument, too_large (of the select), timeout
  ///           (`at_least`), unavailable (it stands before `at_least`, and why), corruption, io
  [[nodiscard]] virtual Result<TablePage> select(const std::string& table, TableSelect select,
                                                 TableReading reading = {}) = 0;
  /// How that select would find its rows.
  [[nodiscard]] virtual Result<TablePlan> explain(const std::string& table, TableSelect select,
                                                  TableReading reading = {}) = 0;
  [[nodiscard]] virtual Result<TableInfo> describe_table(const std::string& table, TableReading reading = {}) = 0;
  /// In order of name.
  [[nodiscard]] virtual Result<std::vector<TableInfo>> list_tables() = 0;

  /// In order of position, behind `after`.
  [[nodiscard]] virtual Result<std::vector<ParkedRow>> parked(const std::string& table, GlobalPosition after = {},
                                                              std::size_t limit = 1'000) = 0;
  /// Tries them again, on the rows as they are then; no positions: none. An event of its own in the projection's
  /// aggregate, so that a rebuild comes to the same rows. Returns: its position: what a read waits for; 0: nothing was
  /// to be done.
  [[nodiscard]] virtual Result<GlobalPosition> retry_parked(const std::string& table,
                                                            std::vector<GlobalPosition> positions) = 0;
  [[nodiscard]] virtual Result<GlobalPosition> discard_parked(const std::string& table,
                                                              std::vector<GlobalPosition> positions) = 0;
};

}  // namespace evershard
