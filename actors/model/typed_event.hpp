// typed_event: a recorded event in its user's type, for those who read and follow events instead of owning them.

#pragma once

#include <variant>

#include "evershard/actors/model/codec.hpp"
#include "evershard/actors/model/types.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

template <class List>
struct OneOf;
template <class... Es>
struct OneOf<Types<Es...>> {
  using type = std::variant<std::monostate, Es...>;
};

/// Returns: the event as one of `Events`, a Types<...>; std::monostate where it is none of them.
/// Errors:  corruption  it is one of them, and its bytes are not; not_found  it was removed or erased
template <class Events>
[[nodiscard]] Result<typename OneOf<Events>::type> typed_event(const RecordedEvent& event) {
  Result<typename OneOf<Events>::type> typed;
  for_each_type(Events{}, [&]<class E>() {
    if (event.type != name_of_type<E>()) return;
    if (event.state != EventState::live) {
      typed = refuse(ErrorCode::not_found,
                     "the payload of the event at position " + std::to_string(event.position.value) + " is gone");
      return;
    }
    E value{};
    if (auto parsed = parse_bytes(event.payload, value); parsed) {
      typed = std::move(value);
    } else {
      typed = Refused(std::move(parsed).error());
    }
  });
  return typed;
}

}  // namespace evershard
