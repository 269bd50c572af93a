// Upcasting: what an event of an older shape has become: nothing, one event of today, or many.

#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "evershard/actors/model/types.hpp"

namespace evershard {

/// `using OldEvents = Types<...>`; none where it has none.
template <class Owner>
struct OldEventsOf {
  using type = Types<>;
};
template <class Owner>
requires requires { typename Owner::OldEvents; }
struct OldEventsOf<Owner> {
  using type = typename Owner::OldEvents;
};

template <class Owner, class E>
concept Upcasts = requires(const E& event) {
  Owner::upcast(event);
};

/// Whether `T` is something an upcast may give: an event of today or an old one (which is upcast in turn),
/// std::monostate for none, and optionals, vectors, variants and tuples of these.
template <class Owner, class T>
inline constexpr bool becomes_events = std::is_same_v<T, std::monostate> || listed<T, typename Owner::Events> ||
                                       listed<T, typename OldEventsOf<Owner>::type>;
template <class Owner, class T>
inline constexpr bool becomes_events<Owner, std::optional<T>> = becomes_events<Owner, T>;
template <class Owner, class T>
inline constexpr bool becomes_events<Owner, std::vector<T>> = becomes_events<Owner, T>;
template <class Owner, class... Ts>
inline constexpr bool becomes_events<Owner, std::variant<Ts...>> = (becomes_events<Owner, Ts> && ...);
template <class Owner, class... Ts>
inline constexpr bool becomes_events<Owner, std::tuple<Ts...>> = (becomes_events<Owner, Ts> && ...);

template <template <class...> class Template, class T>
inline constexpr bool is_a = false;
template <template <class...> class Template, class... Ts>
inline constexpr bool is_a<Template, Template<Ts...>> = true;

/// Gives `sink` each event of today that `event` has become, in order.
template <class Owner, class Sink, class E>
void upcast_into(Sink& sink, const E& event) {
  const auto each = [&sink](const auto& one) { upcast_into<Owner>(sink, one); };
  if constexpr (listed<E, typename Owner::Events>) {
    sink(event);
  } else if constexpr (is_a<std::optional, E>) {
    if (event) each(*event);
  } else if constexpr (is_a<std::vector, E>) {
    for (const auto& one : event) each(one);
  } else if constexpr (is_a<std::variant, E>) {
    std::visit(each, event);
  } else if constexpr (is_a<std::tuple, E>) {
    std::apply([&](const auto&... all) { (each(all), ...); }, event);
  } else if constexpr (!std::is_same_v<E, std::monostate>) {
    each(Owner::upcast(event));
  }
}

}  // namespace evershard
