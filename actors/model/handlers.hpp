// Handlers: which `on` of an aggregate takes a command, and what it answers. Questions about types; nothing runs.

#pragma once

#include <type_traits>

#include "evershard/actors/model/effect.hpp"
#include "evershard/actors/model/preparing.hpp"
#include "evershard/actors/model/types.hpp"

namespace evershard {

/// `on(const State&, const Command&)`, and the answer that a prepared command is given
template <class A, class C, class Given = typename PreparedOf<A, C>::Given>
inline constexpr bool decides_alone = requires(const typename A::State& state, const C& command, const Given& given) {
  A::on(state, command, given);
};
template <class A, class C>
inline constexpr bool decides_alone<A, C, void> = requires(const typename A::State& state, const C& command) {
  A::on(state, command);
};
/// `on(const State&, const Command&, const View&)`, and the same
template <class A, class C, class V, class Given = typename PreparedOf<A, C>::Given>
inline constexpr bool decides_on = requires(const typename A::State& state, const C& command, const V& view,
                                            const Given& given) {
  A::on(state, command, view, given);
};
template <class A, class C, class V>
inline constexpr bool decides_on<A, C, V, void> = requires(const typename A::State& state, const C& command,
                                                           const V& view) {
  A::on(state, command, view);
};

/// `using Views = Types<...>`: the decision models of the aggregate's commands; none where it has none.
template <class A>
struct ViewsOf {
  using type = Types<>;
};
template <class A>
requires requires { typename A::Views; }
struct ViewsOf<A> {
  using type = typename A::Views;
};

/// The view a command is decided on; void: none.
template <class A, class C, class Views = typename ViewsOf<A>::type>
struct ViewOf;
template <class A, class C>
struct ViewOf<A, C, Types<>> {
  using type = void;
};
template <class A, class C, class V, class... Vs>
struct ViewOf<A, C, Types<V, Vs...>> : ViewOf<A, C, Types<Vs...>> {};
template <class A, class C, class V, class... Vs>
requires decides_on<A, C, V>
struct ViewOf<A, C, Types<V, Vs...>> {
  using type = V;
};

template <class A, class C>
inline constexpr std::size_t handlers_of = 0;
template <class A, class C>
requires is_types<typename ViewsOf<A>::type>
inline constexpr std::size_t handlers_of<A, C> = []<class... Vs>(Types<Vs...>) {
  return (std::size_t{decides_on<A, C, Vs>} + ... + std::size_t{decides_alone<A, C>});
}(typename ViewsOf<A>::type{});

/// What the handler of a command gives: an Effect<R>, or R where it is a query.
template <class A, class C, class V = typename ViewOf<A, C>::type, class Given = typename PreparedOf<A, C>::Given>
struct HandlerOf {
  using Gives = std::remove_cvref_t<decltype(A::on(std::declval<const typename A::State&>(), std::declval<const C&>(),
                                                   std::declval<const V&>(), std::declval<const Given&>()))>;
};
template <class A, class C, class V>
struct HandlerOf<A, C, V, void> {
  using Gives = std::remove_cvref_t<decltype(A::on(std::declval<const typename A::State&>(), std::declval<const C&>(),
                                                   std::declval<const V&>()))>;
};
template <class A, class C, class Given>
struct HandlerOf<A, C, void, Given> {
  using Gives = std::remove_cvref_t<decltype(A::on(std::declval<const typename A::State&>(), std::declval<const C&>(),
                                                   std::declval<const Given&>()))>;
};
template <class A, class C>
struct HandlerOf<A, C, void, void> {
  using Gives =
      std::remove_cvref_t<decltype(A::on(std::declval<const typename A::State&>(), std::declval<const C&>()))>;
};

template <class Gives>
struct ReplyIn {
  using type = Gives;
};
template <class R>
struct ReplyIn<Effect<R>> {
  using type = R;
};

/// The type that a command of an aggregate is answered with.
template <class A, class C>
using ReplyOf = typename ReplyIn<typename HandlerOf<A, C>::Gives>::type;
/// Its handler can only look.
template <class A, class C>
inline constexpr bool is_query_of = !is_effect<typename HandlerOf<A, C>::Gives>;

}  // namespace evershard
