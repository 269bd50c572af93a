// TableProjection: events in, rows out: what a table's processor does, one event after the other.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "evershard/services/indexes/processor.hpp"
#include "evershard/services/indexes/value_index.hpp"
#include "evershard/services/tables/table_changes.hpp"
#include "evershard/services/tables/table_mapping.hpp"

namespace evershard::actors {

/// A user's. May throw: the event is at fault then, and nothing of it is done.
using TableHandler = std::function<void(const RecordedEvent& event, TableChanges& rows)>;
/// Reads an event that was parked. Errors: of EventStore::event_at
using EventAt = std::function<Result<RecordedEvent>(GlobalPosition)>;

/// An event kept aside, with the reason.
struct ParkedEvent {
  GlobalPosition position;
  TableFault::Kind kind{};
  std::string type{};       ///< the event's
  std::string aggregate{};  ///< its text; empty: none
  std::string reason{};
  std::uint64_t attempts = 1;

  friend bool operator==(const ParkedEvent&, const ParkedEvent&) = default;
};
[[nodiscard]] std::string encode(const ParkedEvent& parked);
/// Errors: corruption
[[nodiscard]] Result<ParkedEvent> decode_parked(std::string_view key, std::string_view value);

/// Retrying and discarding what is parked are events too, of the projection's own aggregate: `$ProjectionRetried` and
/// `$ProjectionDiscarded` with `{"positions":[17]}`, or `{}` for all. So they have a place in the order, and rows that
/// are built anew come out the same.
class TableProjection final : public Processor {
 public:
  /// `name`: the projection's, or a part's, which keeps the rows that are its own; `handler` is there where the
  /// definition names one; `as_json`: how rules read payloads that are Protobuf.
  [[nodiscard]] static Result<std::unique_ptr<TableProjection>> make(std::string name, TableDefinition definition,
                                                                     TableHandler handler, EventAt event_at,
                                                                     PayloadAsJson as_json = {});

  [[nodiscard]] const Query& query() const override { return query_; }
  [[nodiscard]] Result<void> handle(std::span<const RecordedEvent* const> events, ProjectionRows& rows) override;
  [[nodiscard]] bool has_users_code() const override { return handler_ != nullptr; }
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> figures(const std::string& state) const override;

 private:
  TableProjection(std::string name, TableDefinition definition, TableMapping mapping);
  TableProjection(std::string name, TableDefinition definition, TableHandler handler);

  // `changed` is on top of `rows`, and empty but for the event that is under way.
  [[nodiscard]] Result<void> consume(const RecordedEvent& event, ProjectionRows& rows, EventRows& changed,
                                     TableCounts& counts);
  /// The effect of one event, whole or not at all.
  [[nodiscard]] Faultable<void> effect(const RecordedEvent& event, EventRows& changed, TableCounts& counts);
  /// Of a part: whether the event is its own to decide. Each event is one part's; what names no row is the first's.
  [[nodiscard]] bool is_own(const RecordedEvent& event) const;
  [[nodiscard]] Result<void> settle_parked(const RecordedEvent& order, bool retry, ProjectionRows& rows,
                                           EventRows& changed, TableCounts& counts);
  [[nodiscard]] Result<void> retry_parked(ParkedEvent parked, ProjectionRows& rows, EventRows& changed,
                                          TableCounts& counts);

  const AggregateId own_;
  const std::optional<std::uint32_t> part_;  ///< absent: it is the whole table
  const TableDefinition definition_;
  const std::set<std::string, std::less<>> told_of_;  ///< of the store's own event types: those it names
  const TableWriter writer_;
  const std::optional<TableMapping> mapping_;
  const TableHandler handler_;
  EventAt event_at_;
  PayloadAsJson as_json_;
  Query query_;
};

}  // namespace evershard::actors
