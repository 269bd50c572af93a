// TableDefinition: what a table is made of and kept by: fields, what happens to what does not fit, rules or a handler.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "evershard/protocol/query.hpp"
#include "evershard/protocol/table_schema.hpp"
#include "evershard/services/indexes/json_path.hpp"

namespace evershard::actors {

/// What becomes of an event that would give two rows the same unique value, or whose values do not fit.
enum class OnFault : std::uint8_t {
  fail = 0,  ///< the projection stops before it
  skip = 1,  ///< counted, and left out
  park = 2,  ///< kept with the reason, to be retried or discarded
};
[[nodiscard]] std::string_view name_of(OnFault policy);

enum class ChangeKind : std::uint8_t {
  upsert = 0,         ///< sets the fields named; makes the row where there is none
  update = 1,         ///< sets the fields named, of a row that is there; else nothing, counted
  erase = 2,          ///< `delete`: the row goes; where there is none nothing, counted
  increment = 3,      ///< adds to the fields named, null counting as 0; makes the row where there is none
  set_if_absent = 4,  ///< sets those of the fields named that are null; makes the row where there is none
};
/// `upsert`, `update`, `delete`, `increment`, `set_if_absent`
[[nodiscard]] std::string_view name_of(ChangeKind kind);

/// Where a mapping takes a value from.
struct ValueSource {
  enum class Kind : std::uint8_t {
    payload,   ///< a path into the payload, which is JSON
    metadata,  ///< a path into the metadata, which is JSON
    constant,
    aggregate,  ///< its text, `order-1`; of an event without one null
    aggregate_type,
    aggregate_value,
    position,
    seq_nr,
    occurred_at,
    type,
    tags,  ///< a JSON array
    tag,   ///< of the first tag that begins with `name:` what is behind it; null: there is none
    event_id,
  };
  Kind kind = Kind::payload;
  JsonPath path{};
  std::string name{};      ///< of a tag
  std::string constant{};  ///< as JSON

  friend bool operator==(const ValueSource&, const ValueSource&) = default;
};

/// What the events of some types do, all of them, or those that have all of some tags.
struct MappingRule {
  std::vector<std::string> types;
  std::vector<Tag> tags;
  ChangeKind action = ChangeKind::upsert;
  std::vector<std::pair<std::string, ValueSource>> key;     ///< every key field
  std::vector<std::pair<std::string, ValueSource>> fields;  ///< no key field

  friend bool operator==(const MappingRule&, const MappingRule&) = default;
};

/// A handler in C++, known by its name in the process that keeps the table.
struct HandlerName {
  std::string name;
  std::uint64_t revision = 1;  ///< another one: what it does is another thing, and the table is built anew
  Query query;                 ///< which events it gets

  friend bool operator==(const HandlerName&, const HandlerName&) = default;
};

inline constexpr std::size_t mapping_rules_max = 64;

/// Events of the table's own aggregate.
inline constexpr std::string_view parked_retried_type = "$ProjectionRetried";
inline constexpr std::string_view parked_discarded_type = "$ProjectionDiscarded";

struct TableDefinition {
  TableSchema schema;
  OnFault on_violation = OnFault::fail;  ///< of unique
  OnFault on_error = OnFault::fail;      ///< of everything else: fail or park
  std::variant<std::vector<MappingRule>, HandlerName> made_by;
  std::uint32_t parts = 1;  ///< each with the rows whose keys fall to it (part_of_key)

  /// The events that change the table: no other is read for it.
  [[nodiscard]] Query query() const;
  /// Those, and what was ordered about parked ones, which are events of `own`.
  [[nodiscard]] Query query_of(const AggregateId& own) const;
  /// Schema, rules against the schema, constants against their fields' types. What lies in parts is decided by one of
  /// them, event by event: an event changes one row, and nothing depends on other rows. Errors: invalid_argument,
  /// invalid_query, too_large
  [[nodiscard]] Result<void> check() const;

  friend bool operator==(const TableDefinition&, const TableDefinition&) = default;
};

/// Which of a table's parts has the row. Frozen: rows lie where it said. Shape: `key` as it stands in
/// table_keys::row().
[[nodiscard]] std::uint32_t part_of_key(std::string_view key, std::uint32_t parts);

}  // namespace evershard::actors
