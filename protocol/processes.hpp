// Processes: what their instances are told and say, as bytes. Names that begin with '$' are the store's own.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

inline constexpr std::string_view process_event_type = "$ProcessEvent";  ///< these four are commands
inline constexpr std::string_view process_timer_type = "$ProcessTimer";
inline constexpr std::string_view process_rejection_type = "$ProcessRejection";
inline constexpr std::string_view process_performed_type = "$ProcessPerformed";
inline constexpr std::string_view process_reacted_type = "$ProcessReacted";  ///< these two are events
inline constexpr std::string_view process_taken_type = "$ProcessTaken";
/// `$process-NAME`: who runs the process, and how far it is.
inline constexpr std::string_view process_log_type = "$process";

/// Every reaction of the process's instances has it, and every event that says who runs it.
[[nodiscard]] Tag process_tag(std::string_view process);

/// An event that an instance may react to. Of the event: what a handler may look at.
struct ProcessEvent {
  RecordedEvent event;
  friend bool operator==(const ProcessEvent&, const ProcessEvent&) = default;
};
struct ProcessTimer {
  std::string type;
  std::string payload;
  friend bool operator==(const ProcessTimer&, const ProcessTimer&) = default;
};
/// What an instance wants an aggregate to be asked.
struct ProcessCommand {
  AggregateId aggregate;
  std::string type;
  std::string payload;
  friend bool operator==(const ProcessCommand&, const ProcessCommand&) = default;
};
/// What an instance wants done outside.
struct ProcessEffect {
  std::string type;
  std::string payload;
  friend bool operator==(const ProcessEffect&, const ProcessEffect&) = default;
};
struct ProcessPerformed {
  GlobalPosition reaction;   ///< of the event that wants it
  std::uint32_t number = 0;  ///< in that event
  ProcessEffect effect;
  bool done = false;
  std::string answer;  ///< done
  std::string reason;  ///< given up
  friend bool operator==(const ProcessPerformed&, const ProcessPerformed&) = default;
};
struct ProcessRejection {
  GlobalPosition reaction;   ///< of the event that wants it
  std::uint32_t number = 0;  ///< in that event
  ProcessCommand command;
  std::string reason;
  Tag tag;                  ///< of the process
  GlobalPosition taken_at;  ///< of the event by which the sender took it over
  friend bool operator==(const ProcessRejection&, const ProcessRejection&) = default;
};
struct ProcessReacted {
  enum class Cause : std::uint8_t { event = 1, timer = 2, rejection = 3, performed = 4, not_performed = 5 };
  Cause cause = Cause::event;
  GlobalPosition position;   ///< of the event; of the reaction that sent what was rejected, or wanted what was
                             ///< performed or not; 0 for a timer
  std::uint32_t number = 0;  ///< of that command or effect
  std::string type;          ///< of the event, the timer, the command or the effect
  std::vector<ProcessCommand> commands{};
  bool ended = false;
  std::vector<ProcessEffect> effects{};
  std::string reason{};   ///< not performed
  std::string subject{};  ///< whose data it is; not among its bytes
  friend bool operator==(const ProcessReacted&, const ProcessReacted&) = default;
};
struct ProcessStateBytes {
  std::string state;  ///< the user's
  GlobalPosition reacted_to;
  bool ended = false;
};

[[nodiscard]] std::string encode(const ProcessEvent& event);
[[nodiscard]] std::string encode(const ProcessTimer& timer);
[[nodiscard]] std::string encode(const ProcessRejection& rejection);
[[nodiscard]] std::string encode(const ProcessPerformed& performed);
[[nodiscard]] std::string encode(const ProcessReacted& reacted);
[[nodiscard]] std::string encode(const ProcessStateBytes& state);
[[nodiscard]] std::string encode_process_checkpoint(GlobalPosition position);
/// Errors: corruption
[[nodiscard]] Result<ProcessEvent> decode_process_event(std::string_view bytes);
[[nodiscard]] Result<ProcessTimer> decode_process_timer(std::string_view bytes);
[[nodiscard]] Result<ProcessRejection> decode_process_rejection(std::string_view bytes);
[[nodiscard]] Result<ProcessPerformed> decode_process_performed(std::string_view bytes);
[[nodiscard]] Result<ProcessReacted> decode_process_reacted(std::string_view bytes);
[[nodiscard]] Result<ProcessStateBytes> decode_process_state(std::string_view bytes);
[[nodiscard]] Result<GlobalPosition> decode_process_checkpoint(std::string_view bytes);

}  // namespace evershard
