// ProcessRules: what a process has to look like, each rule with the one line the compiler prints where it is broken.

#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "evershard/actors/model/codec.hpp"
#include "evershard/actors/model/types.hpp"
#include "evershard/actors/process/process_lists.hpp"
#include "evershard/actors/process/reaction.hpp"
#include "evershard/protocol/event.hpp"

namespace evershard {

template <class P, class E>
concept KeyedAlone = requires(const E& event) {
  { P::key(event) } -> std::convertible_to<std::string>;
};
template <class P, class E>
concept KeyedWithPlace = requires(const E& event, const RecordedEvent& at) {
  { P::key(event, at) } -> std::convertible_to<std::string>;
};
template <class P, class E>
concept ReactsAlone = requires(const typename P::State& state, const E& event) {
  { P::on(state, event) } -> std::convertible_to<Reaction<P>>;
};
template <class P, class E>
concept ReactsWithPlace = requires(const typename P::State& state, const E& event, const RecordedEvent& at) {
  { P::on(state, event, at) } -> std::convertible_to<Reaction<P>>;
};
template <class P, class C>
concept HandlesRejected = requires(const typename P::State& state, const C& command, const Rejected& why) {
  { P::on_rejected(state, command, why) } -> std::convertible_to<Reaction<P>>;
};

template <class P, class Of>
concept HandlesPerformed = requires(const typename P::State& state, const typename Of::Effect& effect,
                                    const typename Of::Answer& answer) {
  { P::on_performed(state, effect, answer) } -> std::convertible_to<Reaction<P>>;
};
template <class P, class Of>
concept HandlesNotPerformed = requires(const typename P::State& state, const typename Of::Effect& effect,
                                       const std::string& reason) {
  { P::on_not_performed(state, effect, reason) } -> std::convertible_to<Reaction<P>>;
};

template <class Of>
struct EffectRules {
  static constexpr bool performs = is_performs<Of>;
  static_assert(performs, "evershard: Effects of a process lists evershard::Performs<Effect, Answer>");
  static constexpr bool encodable = [] {
    if constexpr (performs)
      return Encodable<typename Of::Effect> && Named<typename Of::Effect> && Encodable<typename Of::Answer>;
    return true;
  }();
  static_assert(encodable,
                "evershard: an effect must be a Protobuf message, or have a Codec with a name, and its answer one or a "
                "Codec");
  static constexpr bool value = performs && encodable;
};

/// One event that a process reacts to.
template <class P, class E>
struct ReactsRules {
  static constexpr bool encodable = Encodable<E> && Named<E>;
  static_assert(encodable,
                "evershard: this event of Reacts cannot be decoded: it must be a Protobuf message, or have a Codec "
                "with a name");
  static constexpr bool keyed = KeyedAlone<P, E> || KeyedWithPlace<P, E>;
  static_assert(keyed,
                "evershard: the process has no static std::string key(const Event&), or key(const Event&, const "
                "RecordedEvent&), for this event of Reacts: which instance is it for?");
  static constexpr bool reacts = ReactsAlone<P, E> || ReactsWithPlace<P, E>;
  static_assert(
      reacts,
      "evershard: the process has no static Reaction<Process> on(const State&, const Event&), or on(const State&, "
      "const Event&, const RecordedEvent&), for this event of Reacts");
  static constexpr bool value = encodable && keyed && reacts;
};
template <class P, class T>
struct ProcessTimerRules {
  static constexpr bool encodable = Encodable<T> && Named<T>;
  static_assert(encodable, "evershard: this type of Timers must be a Protobuf message, or have a Codec with a name");
  static constexpr bool reacts = ReactsAlone<P, T>;
  static_assert(
      reacts,
      "evershard: the process has no static Reaction<Process> on(const State&, const Timer&) for this one of Timers");
  static constexpr bool value = encodable && reacts;
};
template <class P, class C>
struct SendsRules {
  static constexpr bool encodable = Encodable<C> && Named<C>;
  static_assert(encodable, "evershard: this command of Sends must be a Protobuf message, or have a Codec with a name");
  static constexpr bool handled = HandlesRejected<P, C>;
  static_assert(
      handled,
      "evershard: the process has no static Reaction<Process> on_rejected(const State&, const Command&, const "
      "Rejected&) for this command of Sends");
  static constexpr bool value = encodable && handled;
};

template <class P, bool Complete>
struct ProcessMemberRules {
  static constexpr bool value = false;
};
template <class P>
struct ProcessMemberRules<P, true> {
  static constexpr bool value = []<class... Es, class... Ts, class... Cs, class... Fs>(Types<Es...>, Types<Ts...>,
                                                                                       Types<Cs...>, Types<Fs...>) {
    return (ReactsRules<P, Es>::value && ... && true) && (ProcessTimerRules<P, Ts>::value && ... && true) &&
           (SendsRules<P, Cs>::value && ... && true) && (EffectRules<Fs>::value && ... && true);
  }(typename P::Reacts{}, typename TimersOf<P>::type{}, typename SendsOf<P>::type{}, typename EffectsOf<P>::type{});
};

/// The whole of a process, but for what it shares with aggregates: State, Events, apply.
template <class P>
struct ProcessRules {
  static constexpr bool typed = requires {
    { P::type } -> std::convertible_to<std::string_view>;
  };
  static_assert(typed,
                "evershard: the process has no logical name: add `static constexpr std::string_view type = \"...\";`");
  static constexpr bool has_state = requires { typename P::State; };
  static_assert(has_state, "evershard: the process has no `using State = ...`");
  static constexpr bool has_reacts = requires { requires is_types<typename P::Reacts>; };
  static_assert(has_reacts,
                "evershard: the process has no `using Reacts = evershard::Types<...>`: events it reacts to");
  static constexpr bool has_events = requires { requires is_types<typename P::Events>; };
  static_assert(has_events, "evershard: the process has no `using Events = evershard::Types<...>`: its own");
  static constexpr bool has_lists = is_types<typename TimersOf<P>::type> && is_types<typename SendsOf<P>::type> &&
                                    is_types<typename EffectsOf<P>::type>;
  static_assert(has_lists, "evershard: Timers, Sends or Effects of the process is not an evershard::Types<...>");
  static constexpr bool value = ProcessMemberRules < P,
                        typed &&has_state &&has_reacts &&has_events &&has_lists > ::value;
};

}  // namespace evershard
