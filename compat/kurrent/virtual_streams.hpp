// Streams that are derived: `$ce-CATEGORY`, `$et-TYPE`: which events they link to, and which number each link has.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/recorded_view.hpp"

namespace evershard::kurrent {

/// What a derived stream is made of. The number of a link follows from its event's position: numbers ascend, with gaps,
/// and a removal of other events changes none.
struct Derived {
  enum class Of : std::uint8_t { category, event_type };
  Of of = Of::category;
  std::string value{};

  /// Absent: the name is none of a derived stream.
  [[nodiscard]] static std::optional<Derived> from(std::string_view stream);
  /// What has to be read for it: by the index of types, or everything.
  [[nodiscard]] Query query() const;
  [[nodiscard]] bool takes(const RecordedEvent& event) const;
  [[nodiscard]] bool takes(const RecordedView& event) const;
  /// Of the link to an event: clients acknowledge by it. Two events may have one id; their links have two.
  [[nodiscard]] EventId link_id(const EventId& of_event, GlobalPosition at) const;

  /// Of the link to the event at a position: as revisions of other streams, from 0.
  [[nodiscard]] static std::uint64_t number_at(GlobalPosition position) { return position.value - 1; }
  [[nodiscard]] static GlobalPosition position_of(std::uint64_t number) { return GlobalPosition(number + 1); }
};

}  // namespace evershard::kurrent
