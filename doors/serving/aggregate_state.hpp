// An aggregate's state as far as it is written down: its newest snapshot, and the events behind it, which only the
// aggregate's own program can fold into it. The same for every door.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "evershard/api/event_store.hpp"
#include "evershard/api/json/payload_types.hpp"

namespace evershard::serving {

struct StateAsked {
  AggregateId aggregate;
  std::optional<std::uint64_t> version{};  ///< absent: the latest
  std::optional<GlobalPosition> up_to{};   ///< as of this position; not with a version
  std::optional<std::uint64_t> limit{};    ///< of the events behind the snapshot; absent: all
  std::size_t bytes_max = 8u << 20;        ///< of the answer: then the events end early
};

struct WrittenState {
  std::string json;          ///< one object. Source: docs/types.md, "An aggregate's state"
  std::uint64_t events = 0;  ///< given in it
};

/// Errors: not_found, invalid_argument, corruption, io, unavailable
[[nodiscard]] Result<WrittenState> written_state(EventStore& store, const StateAsked& asked, const PayloadTypes& types);

}  // namespace evershard::serving
