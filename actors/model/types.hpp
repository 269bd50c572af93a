// Types: a list of types, as an aggregate names its commands and events.

#pragma once

#include <cstddef>
#include <type_traits>

namespace evershard {

/// `using Events = Types<bank::Deposited, bank::Withdrawn>;`
template <class... Ts>
struct Types {
  static constexpr std::size_t count = sizeof...(Ts);
};

template <class T>
inline constexpr bool is_types = false;
template <class... Ts>
inline constexpr bool is_types<Types<Ts...>> = true;

template <class T, class List>
inline constexpr std::size_t times_listed = 0;
template <class T, class... Ts>
inline constexpr std::size_t times_listed<T, Types<Ts...>> = (std::size_t{std::is_same_v<T, Ts>} + ... + 0);

template <class T, class List>
inline constexpr bool listed = times_listed<T, List> > 0;

/// Calls `f.template operator()<T>()` for each type, in order.
template <class... Ts, class F>
constexpr void for_each_type(Types<Ts...>, F&& f) {
  (f.template operator()<Ts>(), ...);
}

}  // namespace evershard
