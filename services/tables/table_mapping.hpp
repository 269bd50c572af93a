// TableMapping: the rules of a table, ready to turn events into changes of rows.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/services/tables/table_writer.hpp"

namespace evershard::actors {

class TableMapping {
 public:
  /// Errors: invalid_argument: a field that is not there, a constant its field does not take, a key without all of its
  /// fields
  [[nodiscard]] static Result<TableMapping> make(const TableSchema& schema, const std::vector<MappingRule>& rules);

  /// Every rule that the event matches, in their order.
  [[nodiscard]] Faultable<void> apply(const RecordedEvent& event, const TableWriter& writer, EventRows& rows,
                                      TableCounts& counts) const;

  /// Appends the keys of rows that apply() will look at; of a rule that the event cannot follow, none.
  void add_keys(const RecordedEvent& event, const TableWriter& writer, std::vector<std::string>& keys) const;
  /// The key of the row that the event changes, where all rules that it matches have the same. Nothing: no rule
  /// matches, or what the key is made of is not there or does not fit.
  [[nodiscard]] std::optional<std::string> row_key(const RecordedEvent& event, const TableWriter& writer) const;

 private:
  struct Source {
    const ValueSource* from = nullptr;
    std::size_t field = 0;
    std::size_t path = 0;  ///< of payload and metadata: which of the paths
    TableValue constant{};
  };
  struct Rule {
    std::vector<Tag> tags;
    ChangeKind action{};
    std::vector<Source> key;
    std::vector<Source> fields;
    std::vector<const JsonPath*> payload_paths;
    std::vector<const JsonPath*> metadata_paths;
  };
  using Found = std::vector<std::optional<std::string_view>>;
  struct JsonFound {
    Found payload, metadata;
  };

  TableMapping() = default;
  static Result<Source> source_of(const TableSchema& schema, const std::pair<std::string, ValueSource>& asked,
                                  Rule& rule);
  /// Finds what the rule takes from payload and metadata. False: the payload was erased.
  [[nodiscard]] static Faultable<bool> look(const Rule& rule, const RecordedEvent& event, JsonFound& json);
  [[nodiscard]] static bool is_for(const Rule& rule, const RecordedEvent& event);
  [[nodiscard]] static Faultable<TableValue> value_of(const Source& source, const RecordedEvent& event,
                                                      const JsonFound& json, const TableSchema& schema);
  [[nodiscard]] static Faultable<std::vector<TableValue>> key_of(const Rule& rule, const RecordedEvent& event,
                                                                 const JsonFound& json, const TableSchema& schema);
  [[nodiscard]] Faultable<void> apply(const Rule& rule, const RecordedEvent& event, const TableWriter& writer,
                                      EventRows& rows, TableCounts& counts) const;

  std::shared_ptr<const std::vector<MappingRule>> asked_;  ///< what sources and paths point into
  std::vector<Rule> rules_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_type_;
};

/// A JSON value as a field takes it: text and times are strings, bytes base64, everything else itself; null is null.
/// Shape:  `raw` is JSON. Errors: value
[[nodiscard]] Faultable<TableValue> value_from_json(const TableField& field, std::string_view raw);

}  // namespace evershard::actors
