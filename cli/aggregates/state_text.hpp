// StateText: an aggregate's state as JSON, for a snapshot's bytes and for those of a replayed state.

#pragma once

#include <string>
#include <string_view>

#include "evershard/api/json/payload_types.hpp"
#include "evershard/cli/failure.hpp"
#include "evershard/protocol/event.hpp"

namespace evershard::cli {

struct StateText {
  std::string json;     ///< base64 in quotes where `base64`
  std::string message;  ///< empty: it is no Protobuf
  bool base64 = false;
  bool unknown_fields = false;
};

/// A state's bytes: JSON as it is, on one line; Protobuf by its message; anything else in base64, and with `as_stored`
/// Protobuf too. Errors: not_found (no message for states of this type), invalid_argument (the bytes are not of it)
[[nodiscard]] Result<StateText> state_text(std::string_view aggregate_type, std::string_view payload,
                                           PayloadFormat format, const PayloadTypes& types, bool as_stored);

}  // namespace evershard::cli
