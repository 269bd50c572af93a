// CounterKind: a kind of aggregate with a text codec: a sum that must not become negative.

#pragma once

#include <cstdint>
#include <string>

#include "evershard/actors/model/kind.hpp"

namespace evershard::actors {

/// Commands (type, then bytes): `add TOKEN:N`, `twice TOKEN:N` (two events), `take TOKEN:N` (rejected where the sum is
/// less), `get` (a query), `noop`, `throw`, `poison` (its event cannot be applied), `big N` (a reply of N bytes), `snap
/// TOKEN:N` (with a snapshot), `unique TAG` (one event with that tag in the whole store), `book TOKEN:LIMIT` (a
/// decision model: at most LIMIT events with the tag `seat`). Replies: the sum and the number of events, `SUM/COUNT`.
class CounterKind final : public AggregateKind {
 public:
  std::uint32_t revision = 1;
  Retention retained{};
  bool encodes = true;
  std::size_t padding = 0;  ///< bytes more in each encoded state

  [[nodiscard]] std::string_view type() const override { return "counter"; }
  [[nodiscard]] std::uint32_t schema_revision() const override { return revision; }
  [[nodiscard]] const Retention& retention() const override { return retained; }
  [[nodiscard]] StatePtr initial() const override;
  [[nodiscard]] Result<StatePtr> copy(const AnyState& state) const override;
  [[nodiscard]] Result<std::string> encode(const AnyState& state) const override;
  [[nodiscard]] PayloadFormat state_format() const override { return PayloadFormat::text; }
  [[nodiscard]] Result<StatePtr> decode(std::string_view bytes) const override;
  [[nodiscard]] Result<void> apply(AnyState& state, std::string_view event_type,
                                   std::string_view payload) const override;
  [[nodiscard]] bool knows_command(std::string_view command_type) const override { return command_type != "unknown"; }
  [[nodiscard]] bool is_query(std::string_view command_type) const override { return command_type == "get"; }
  [[nodiscard]] Result<std::optional<DecisionModel>> decision_model(const CommandBytes& command) const override;
  [[nodiscard]] Result<void> fold(const CommandBytes& command, AnyState& model,
                                  const RecordedEvent& event) const override;
  [[nodiscard]] Result<Decision> decide(const AnyState& state, const CommandBytes& command, const AnyState* model,
                                        const PreparedAnswer* prepared) const override;

  /// `SUM/COUNT` of a state.
  static std::string text_of(const AnyState& state);
};

/// "add a:5" as a command.
CommandBytes command(std::string_view text);

}  // namespace evershard::actors
