// What the store's own events say: those that stand in streams of users' aggregates, of processes, of schedules.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "evershard/api/event_store.hpp"
#include "evershard/api/json/payload_types.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard {

/// `$ProcessReacted`, `$ProcessTaken`, `$TimersChanged`, `$CommandPrepared`, ...: whatever is registered. What is text
/// in them is shown as text; what users gave (a payload, an answer) as JSON where it is, else as base64.
///
/// Returns: absent: it is none of them, or its payload is JSON anyway. Errors: invalid_argument: the bytes are not of
/// it
[[nodiscard]] std::optional<Result<ShownMessage>> decoded_own(const RecordedEvent& event);
/// The state that a process keeps of itself (`$process-NAME`). Returns: absent: it is none. Errors: as above
[[nodiscard]] std::optional<Result<ShownMessage>> decoded_own(const RecordedSnapshot& snapshot);

/// Whether a process has instances of that type in the store. Errors: those of reading
[[nodiscard]] Result<bool> is_of_process(EventStore& store, std::string_view aggregate_type);
/// The user's part of an instance's state: by the message that is registered for it, or JSON or text where it is that,
/// else base64. Errors: corruption, invalid_argument: the bytes are not of it
struct InstanceState {
  std::string json{};
  std::string message{};  ///< full name; empty: it is none
  bool base64 = false;
  bool unknown_fields = false;
};
[[nodiscard]] Result<InstanceState> state_of_instance(std::string_view aggregate_type, std::string_view bytes,
                                                      const PayloadTypes& types);

}  // namespace evershard
