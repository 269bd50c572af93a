// What a process lists: the types of its timers, of commands whose rejection it hears of, of its effects.

#pragma once

#include "evershard/actors/model/codec.hpp"
#include "evershard/actors/model/types.hpp"

namespace evershard {

/// `using NAME = Types<...>`; none where it has none.
template <class P>
struct TimersOf {
  using type = Types<>;
};
template <class P>
requires requires { typename P::Timers; }
struct TimersOf<P> {
  using type = typename P::Timers;
};
template <class P>
struct SendsOf {
  using type = Types<>;
};
template <class P>
requires requires { typename P::Sends; }
struct SendsOf<P> {
  using type = typename P::Sends;
};

/// An effect that a process has performed, and what its handler answers: `using Effects = Types<Performs<Send, Sent>>`.
template <class E, class R = Done>
struct Performs {
  using Effect = E;
  using Answer = R;
};
template <class T>
inline constexpr bool is_performs = false;
template <class E, class R>
inline constexpr bool is_performs<Performs<E, R>> = true;
template <class P>
struct EffectsOf {
  using type = Types<>;
};
template <class P>
requires requires { typename P::Effects; }
struct EffectsOf<P> {
  using type = typename P::Effects;
};

template <class E, class List>
inline constexpr bool performed_by = false;
template <class E, class... Fs>
inline constexpr bool performed_by<E, Types<Fs...>> = (std::is_same_v<E, typename Fs::Effect> || ...);

/// What a reaction of a process says is one of what the process lists: else nobody would be told.
template <class P, class T>
struct ListedTimer {
  static constexpr bool in_timers = listed<T, typename TimersOf<P>::type>;
  static_assert(in_timers,
                "evershard: schedule(...): what this timer says is not one of the process's Timers, so that the "
                "process would never be told");
  static constexpr bool value = in_timers;
};
template <class P, class E>
struct ListedEvent {
  static constexpr bool in_events = listed<E, typename P::Events>;
  static_assert(in_events, "evershard: record(...): this is not one of the process's Events");
  static constexpr bool value = in_events;
};
template <class P, class E>
struct ListedEffect {
  static constexpr bool in_effects = performed_by<E, typename EffectsOf<P>::type>;
  static_assert(in_effects,
                "evershard: perform(...): the process's Effects list no evershard::Performs of this effect");
  static constexpr bool value = in_effects;
};

}  // namespace evershard
