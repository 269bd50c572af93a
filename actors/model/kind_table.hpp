// KindTable: an aggregate's functions behind their names, and the AggregateKind made of them. What is typed stays in
// the functions; looking up, checking and catching is done once, for all kinds, in the source.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "evershard/actors/model/effect.hpp"
#include "evershard/actors/model/kind.hpp"

namespace evershard {

/// The functions of a table may throw what the user's code throws; what they fill in is of no use where they fail.

struct EventRow {
  std::string name;
  const std::type_info* type = nullptr;
  /// Errors: corruption
  Result<void> (*apply)(AnyState& state, std::string_view payload) = nullptr;
  /// Tags and all. Null: an old event, which nobody writes any more.
  Result<void> (*encode)(const void* event, DecidedEvent& decided) = nullptr;
  WrittenType written{};
};

struct ViewEventRow {
  std::string name;
  Result<void> (*apply)(AnyState& view, const RecordedEvent& event) = nullptr;
};

struct CommandRow {
  std::string name;
  const std::type_info* type = nullptr;
  bool query = false;
  /// `answer`: null: nothing was asked. Errors: corruption  the bytes
  Result<void> (*decide)(const AnyState& state, std::string_view command, const AnyState* view,
                         const std::string* answer, Decided& decided) = nullptr;
  /// Null: it asks nothing. Errors: corruption  the bytes
  Result<void> (*prepare)(const AnyState& state, std::string_view command,
                          std::optional<CommandBytes>& question) = nullptr;
  std::string question{};  ///< logical name
  std::string answer{};    ///< the same; empty: it has none
  bool always_asks = false;
  Result<void> (*view)(std::string_view command, DecisionModel& model) = nullptr;  ///< null: decided on the state alone
  std::vector<ViewEventRow> view_events;
  WrittenType written{};
  WrittenType reply{};
  bool replies = true;
};

struct KindTable {
  std::string type;
  const std::type_info* cpp_type = nullptr;
  const std::type_info* state_type = nullptr;
  std::uint32_t schema_revision = 0;
  Retention retention;
  WrittenType state{};
  StatePtr (*initial)() = nullptr;
  StatePtr (*copy)(const AnyState& state) = nullptr;
  const void* (*typed)(const AnyState& state) = nullptr;  ///< the user's state in it
  Result<std::string> (*encode)(const AnyState& state) = nullptr;
  std::string (*subject)(const AnyState& state) = nullptr;
  Result<void> (*decode)(std::string_view bytes, AnyState& state) = nullptr;
  std::vector<EventRow> events;  ///< of today, then old ones
  std::vector<CommandRow> commands;
  std::vector<KindTypes::OldName> old_names{};
  std::vector<KindTypes::Reader> readers{};  ///< beside the views
};

/// Errors: invalid_argument  a logical name is empty, malformed or given twice; too_large  one is too long
[[nodiscard]] Result<std::shared_ptr<const AggregateKind>> kind_of(KindTable table);

}  // namespace evershard
