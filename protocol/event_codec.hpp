// Events <-> bytes without a message in between: where events are many, making a message of each costs more than all
// the rest. Behind the codec, which goes by the generated code for everything else, and wherever these bytes are not as
// usual.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/recorded_view.hpp"

namespace evershard::event_codec {

/// What a field of a message takes: its number, its length and itself.
[[nodiscard]] std::size_t bytes_as_field(std::uint32_t field, const Event& event);
[[nodiscard]] std::size_t bytes_as_field(std::uint32_t field, const RecordedEvent& event);
[[nodiscard]] std::size_t bytes_as_field(std::uint32_t field, const RecordedView& event);

/// Writes it there. Returns: behind it.
/// Shape:  the same bytes as those of the generated code.
std::uint8_t* write_as_field(std::uint32_t field, const Event& event, std::uint8_t* to);
std::uint8_t* write_as_field(std::uint32_t field, const RecordedEvent& event, std::uint8_t* to);
std::uint8_t* write_as_field(std::uint32_t field, const RecordedView& event, std::uint8_t* to);

/// What a number takes, and itself; 0 takes nothing.
[[nodiscard]] std::size_t bytes_of_number(std::uint32_t field, std::uint64_t value);
std::uint8_t* write_number(std::uint32_t field, std::uint64_t value, std::uint8_t* to);

/// The event's own bytes, without what a field has around them.
///
/// Returns: false: not as usual (malformed, an unknown field, an enumerator or a number out of its range): ask the
/// generated code.
[[nodiscard]] bool read(std::string_view bytes, Event& event);
[[nodiscard]] bool read(std::string_view bytes, RecordedEvent& event);

/// One field of a message, as it lies there.
struct Field {
  std::uint32_t number = 0;
  bool is_bytes = false;  ///< else a number
  std::uint64_t value = 0;
  std::string_view bytes{};
  std::string_view raw{};  ///< with its number
};
/// Takes the next one off the front. Returns: false: malformed, or of a kind that no message of ours has.
[[nodiscard]] bool take_field(std::string_view& from, Field& field);

}  // namespace evershard::event_codec
