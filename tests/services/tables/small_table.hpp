// A table in memory, fed with events by hand, as the engine would feed it.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "evershard/services/rows/memory_projection_store.hpp"
#include "evershard/services/tables/table_projection.hpp"
#include "evershard/services/tables/table_select.hpp"

namespace evershard::actors {

/// `aggregate`: its text; positions ascend by themselves where it is 0.
RecordedEvent happened(std::string type, const std::string& aggregate, std::string payload = "{}",
                       std::vector<Tag> tags = {}, std::uint64_t position = 1);

ValueSource at_path(std::string_view path);
ValueSource said(ValueSource::Kind kind);
ValueSource constant(std::string json);

/// orders: order text key, customer text index nullable, total integer nullable, mail text unique nullable; Placed
/// upserts, Changed updates, Cancelled deletes, Counted increments.
TableDefinition orders_by_rules();

class SmallTable {
 public:
  explicit SmallTable(TableDefinition definition, TableHandler handler = {}, const std::string& name = "orders");

  /// One page, as the engine writes it: rows, state and checkpoint together, or nothing.
  Result<void> feed(std::vector<RecordedEvent> events);
  /// The same for many pages that are one write.
  Result<void> feed_at_once(const std::vector<std::vector<RecordedEvent>>& pages);
  TablePage select(TableSelect select = {});
  Result<TablePage> try_select(const TableSelect& select);
  std::string plan(const TableSelect& select);
  /// Every row of the family as it lies there.
  std::map<std::string, std::string> raw();
  std::vector<ParkedEvent> parked();
  TableCounts counts();
  /// Index and unique entries are those that the rows ask for, and no others.
  void expect_sound();

  storage::ProjectionStore& store() { return *store_; }
  const TableShape& shape() const { return shape_; }
  std::map<std::uint64_t, RecordedEvent> journal;  ///< what was fed: what a parked event is read from
  GlobalPosition damaged{};                        ///< of the journal: cannot be read; 0: none

 private:
  TableShape shape_;
  std::unique_ptr<storage::ProjectionStore> store_;
  std::unique_ptr<TableProjection> projection_;
};

}  // namespace evershard::actors
