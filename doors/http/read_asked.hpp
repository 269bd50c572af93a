// ReadAsked: what a request for events asks, and its answer as JSON.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "evershard/api/event_store.hpp"
#include "evershard/api/json/payload_types.hpp"
#include "evershard/doors/http/api.hpp"

namespace evershard::http {

inline constexpr std::uint64_t limit_default = 100;
inline constexpr std::uint64_t limit_max = 1'000;

/// `limit`, 100 without. Errors: invalid_argument: over 1,000
[[nodiscard]] Result<std::uint64_t> limit_of(const Parameters& parameters);
/// `direction`: forwards or backwards. Errors: invalid_argument
[[nodiscard]] Result<Direction> direction_of(const Parameters& parameters);
/// `type`, `tag`, `concerning`: one item; none of them: everything. Errors: invalid_argument, invalid_query, too_large
[[nodiscard]] Result<Query> query_of(const Parameters& parameters);

struct ReadAsked {
  Query query;
  ReadOptions options;  ///< without limit and at_least
  std::uint64_t limit = limit_default;
  std::optional<GlobalPosition> at_least;
  bool cost = false;
};
enum class ReadBy : std::uint8_t {
  position,    ///< everything, between bounds
  parameters,  ///< what the target's parameters select
  body,        ///< what the body selects
};
/// Errors: invalid_argument, invalid_query, too_large
[[nodiscard]] Result<ReadAsked> read_asked_of(const Asked& asked, ReadBy by);

struct FollowAsked {
  Query query;
  std::optional<GlobalPosition> after;  ///< absent: from now on
};
/// Of live/events: Last-Event-ID goes before `after`. Errors: invalid_argument, invalid_query, too_large
[[nodiscard]] Result<FollowAsked> follow_asked_of(const Asked& asked);

struct GivenEvents {
  std::string json;
  std::size_t events = 0;
};
/// `bytes_max`: then the list ends, after one event at least.
/// Errors: of EventStream::next_page, where no event came before it
[[nodiscard]] Result<GivenEvents> give_events(EventStore& store, const ReadAsked& read, const PayloadTypes& types,
                                              std::size_t bytes_max);

struct StreamAsked {
  AggregateId aggregate;
  StreamOptions options;  ///< without limit
  std::uint64_t limit = limit_default;
};
[[nodiscard]] Result<GivenEvents> give_events(EventStore& store, const StreamAsked& read, const PayloadTypes& types,
                                              std::size_t bytes_max);

/// A body with what does not go into a target: `{"where":"..","order":["-total"],"limit":20,"after":".."}`, a text, a
/// number, true, false, or a list of them each. Errors: invalid_argument
[[nodiscard]] Result<void> add_parameters(std::string_view body, Parameters& to);

}  // namespace evershard::http
