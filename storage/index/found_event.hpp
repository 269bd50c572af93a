// FoundEvent: position and place of one event; what indexes give.

#pragma once

#include "evershard/storage/journal/location.hpp"

namespace evershard::storage {

struct FoundEvent {
  GlobalPosition position;
  EventLocation location;

  friend bool operator==(const FoundEvent&, const FoundEvent&) = default;
};

}  // namespace evershard::storage
