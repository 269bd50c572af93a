// Events as KurrentDB's clients propose them, read without a message in between: where they are many, building one of
// each costs more than all the rest. What is not as usual is left to the generated code.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/event.hpp"

namespace evershard::kurrent {

/// A ProposedMessage's bytes, of an append or of a batch, as an event without its aggregate.
///
/// Returns: false: not as usual (malformed, a field twice that is merged, an id in another form, no UTF-8): ask the
/// generated code.
[[nodiscard]] bool read_proposed(std::string_view bytes, Event& event);

/// Takes the proposed messages out of an AppendReq, or a BatchAppendReq: field `number` of it.
///
/// Returns: false: not as usual. Shape: `rest`: what else is there, as it lies there
[[nodiscard]] bool split_proposed(std::string_view bytes, std::uint32_t number, std::string& rest,
                                  std::vector<Event>& events);

inline constexpr std::uint32_t proposed_in_append = 2;
inline constexpr std::uint32_t proposed_in_batch = 3;

}  // namespace evershard::kurrent
