// What the measurements of projections have in common: items with an owner and a number of uses, and a table of them.

#pragma once

#include <cstdint>
#include <string>

#include "evershard/protocol/event.hpp"

namespace evershard::bench {

/// A table of items: the key, one index, two more fields.
[[nodiscard]] std::string items_spec();

/// `made`: ItemMade, with a note; else ItemUsed.
[[nodiscard]] Event item_event(std::uint64_t item, std::uint64_t owner, std::uint64_t uses, bool made);

}  // namespace evershard::bench
