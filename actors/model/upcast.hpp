// Upcasting: what an event of an older shape has become: nothing, one event of today, or many.

#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "evershard/actors/model/types.hpp"

namespace evershard {

/// The `using OldEvents = Types<...>` of `Owner` itself; an empty list where `Owner` has none.
template <class Owner>
struct OwnOldEventsOf {
  using type = Types<>;
};
template <class Owner>
requires requires { typename Owner::OldEvents; }
struct OwnOldEventsOf<Owner> {
  using type = typename Owner::OldEvents;
};

/// `using UpcastBy = Types<BankAccount>`, of a view: it reads their old events as they do. None where it has none.
template <class Owner>
struct UpcastByOf {
  using type = Types<>;
};
template <class Owner>
requires requires { typename Owner::UpcastBy; }
struct UpcastByOf<Owner> {
  using type = typename Owner::UpcastBy;
};

/// Whether `T`, as an upcast of A gives it, is or becomes one of `Listed`.
template <class A, class Listed, class T>
struct BecomesOneOf {
  static constexpr bool value = [] {
    if constexpr (listed<T, Listed>) return true;
    if constexpr (listed<T, typename OwnOldEventsOf<A>::type>)
      return BecomesOneOf<A, Listed, std::remove_cvref_t<decltype(A::upcast(std::declval<const T&>()))>>::value;
    return false;
  }();
};
template <class A, class Listed, class T>
struct BecomesOneOf<A, Listed, std::optional<T>> : BecomesOneOf<A, Listed, T> {};
template <class A, class Listed, class T>
struct BecomesOneOf<A, Listed, std::vector<T>> : BecomesOneOf<A, Listed, T> {};
template <class A, class Listed, class... Ts>
struct BecomesOneOf<A, Listed, std::variant<Ts...>> {
  static constexpr bool value = (BecomesOneOf<A, Listed, Ts>::value || ...);
};
template <class A, class Listed, class... Ts>
struct BecomesOneOf<A, Listed, std::tuple<Ts...>> {
  static constexpr bool value = (BecomesOneOf<A, Listed, Ts>::value || ...);
};

template <class... Lists>
struct JoinedTypes {
  using type = Types<>;
};
template <class... Ts>
struct JoinedTypes<Types<Ts...>> {
  using type = Types<Ts...>;
};
template <class... Ts, class... Us, class... Lists>
struct JoinedTypes<Types<Ts...>, Types<Us...>, Lists...> : JoinedTypes<Types<Ts..., Us...>, Lists...> {};

/// Those old events of A that become one of `Listed`.
template <class A, class Listed, class Olds = typename OwnOldEventsOf<A>::type>
struct OldEventsFor;
template <class A, class Listed, class... Os>
struct OldEventsFor<A, Listed, Types<Os...>> {
  using type =
      typename JoinedTypes<Types<>,
                           std::conditional_t<BecomesOneOf<A, Listed, Os>::value, Types<Os>, Types<>>...>::type;
};

template <class Owner, class By>
struct OldEventsBy;
template <class Owner, class... As>
struct OldEventsBy<Owner, Types<As...>> {
  using type = typename JoinedTypes<typename OwnOldEventsOf<Owner>::type,
                                    typename OldEventsFor<As, typename Owner::Events>::type...>::type;
};
/// All that it reads, with those of UpcastBy.
template <class Owner>
struct OldEventsOf : OldEventsBy<Owner, typename UpcastByOf<Owner>::type> {};
template <class Owner>
requires std::is_same_v<typename UpcastByOf<Owner>::type, Types<>>
struct OldEventsOf<Owner> : OwnOldEventsOf<Owner> {
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
  } else if constexpr (listed<E, typename OwnOldEventsOf<Owner>::type>) {
    each(Owner::upcast(event));
  } else if constexpr (!std::is_same_v<E, std::monostate>) {
    // As its aggregate reads it; what of that the owner does not list is nothing to it.
    const auto known = [&sink](const auto& today) {
      if constexpr (listed<std::remove_cvref_t<decltype(today)>, typename Owner::Events>) sink(today);
    };
    bool done = false;
    for_each_type(typename UpcastByOf<Owner>::type{}, [&]<class A>() {
      if constexpr (listed<E, typename OwnOldEventsOf<A>::type>) {
        if (!done) upcast_into<A>(known, event);
        done = true;
      }
    });
  }
}

}  // namespace evershard
