// Preparing: which question a command asks before it is decided, and what its handler is given. Questions about types;
// nothing runs.

#pragma once

#include <optional>
#include <type_traits>

#include "evershard/actors/model/preparations.hpp"
#include "evershard/actors/model/types.hpp"

namespace evershard {

/// `static Question prepare(const State&, const Command&)`, or std::optional<Question>
template <class A, class C>
concept PreparesFor = requires(const typename A::State& state, const C& command) {
  A::prepare(state, command);
};

/// `using Prepares = Types<Asks<Q, A>, ...>`; none where it has none.
template <class A>
struct PreparesOf {
  using type = Types<>;
};
template <class A>
requires requires { typename A::Prepares; }
struct PreparesOf<A> {
  using type = typename A::Prepares;
};

template <class T>
struct Unwrapped {
  using type = T;
  static constexpr bool optional = false;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
  static constexpr bool optional = true;
};

/// The answer to a question; void: it is not among them.
template <class Q, class List>
struct AnswerTo {
  using type = void;
};
template <class Q, class A, class... Rest>
struct AnswerTo<Q, Types<Asks<Q, A>, Rest...>> {
  using type = A;
};
template <class Q, class First, class... Rest>
struct AnswerTo<Q, Types<First, Rest...>> : AnswerTo<Q, Types<Rest...>> {};

/// Of a command that asks nothing.
template <class A, class C>
struct PreparedOf {
  static constexpr bool asks = false;
  static constexpr bool optional = false;
  using Question = void;
  using Answer = void;
  using Given = void;
};
template <class A, class C>
requires PreparesFor<A, C>
struct PreparedOf<A, C> {
  static constexpr bool asks = true;
  using Returned =
      std::remove_cvref_t<decltype(A::prepare(std::declval<const typename A::State&>(), std::declval<const C&>()))>;
  static constexpr bool optional = Unwrapped<Returned>::optional;
  using Question = typename Unwrapped<Returned>::type;
  using Answer = typename AnswerTo<Question, typename PreparesOf<A>::type>::type;
  /// What the handler is given as its last argument.
  using Given =
      std::conditional_t<optional, std::optional<std::conditional_t<std::is_void_v<Answer>, int, Answer>>, Answer>;
};

}  // namespace evershard
