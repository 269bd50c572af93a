// The events of a definition's aggregate, and what they come to.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/services/indexes/definition.hpp"

namespace evershard::actors {

/// Which definitions: "projection" has aggregates `$projection-NAME` and events `$ProjectionCreated`, ...
class DefinitionNames {
 public:
  explicit DefinitionNames(std::string category);
  [[nodiscard]] const std::string& category() const { return category_; }
  [[nodiscard]] const std::string& aggregate_type() const { return aggregate_type_; }
  [[nodiscard]] AggregateId aggregate(const std::string& name) const { return {aggregate_type_, name}; }
  [[nodiscard]] std::string event_type(std::string_view verb) const { return event_prefix_ + std::string(verb); }
  /// "Created" of `$ProjectionCreated`; nothing: it is no event of these definitions.
  [[nodiscard]] std::optional<std::string_view> verb_of(std::string_view event_type) const;

 private:
  std::string category_, aggregate_type_, event_prefix_;
};

namespace verbs {
inline constexpr std::string_view created = "Created", changed = "Changed", dropped = "Dropped";
inline constexpr std::string_view paused = "Paused", resumed = "Resumed";
inline constexpr std::string_view reset = "Reset",
                                  rebuilt = "Rebuilt";  ///< rows anew: at once, beside the ones that are read
inline constexpr std::string_view served =
    "Served";  ///< of a table in parts: all have the rows that were built beside, which are read from here on
}  // namespace verbs

/// 1 to 64 of `a-z A-Z 0-9 . _ -`, not beginning with a dot; of projections also a part's (PartName). Errors:
/// invalid_argument
[[nodiscard]] Result<void> check_definition_name(std::string_view role, std::string_view name);

/// The payload of `Created` and `Changed`: `{"kind":..,"spec":{..}}`. Shape: `spec` is JSON.
[[nodiscard]] std::string definition_payload(std::string_view kind, std::string_view spec);

/// The same JSON, however it is written: no change. Shape: both are JSON.
[[nodiscard]] bool same_definition(std::string_view a, std::string_view b);

/// One more event. A part's events are copies of its table's, `"of"` in their payload the seq_nr there: what is counted
/// by it is counted alike by all parts. Shape: in order of seq_nr, of one aggregate. Errors: corruption: its payload is
/// not what such an event has
[[nodiscard]] Result<void> fold(Definition& definition, const DefinitionNames& names, const RecordedEvent& event);

/// Of a table in parts: the newest version's rows are not read yet, older ones are.
[[nodiscard]] bool waits_to_be_served(const Definition& definition);
/// The version that is read where parts are swapped together. Shape: it has versions.
[[nodiscard]] SeqNr served_version(const Definition& definition);

}  // namespace evershard::actors
