// Rules: what an aggregate has to look like, each with the one line the compiler prints where it does not.
//
// The names of the types that a line speaks of stand in the line before it: "In instantiation of 'struct
// evershard::EventRules<BankAccount, bank::Withdrawn>'".

#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include "evershard/actors/model/codec.hpp"
#include "evershard/actors/model/handlers.hpp"
#include "evershard/actors/model/types.hpp"
#include "evershard/actors/model/upcast.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"

namespace evershard {

/// One event of an aggregate's `Events`.
template <class A, class E>
struct EventRules {
  static constexpr bool once = times_listed<E, typename A::Events> == 1;
  static_assert(once, "evershard: this event is listed twice in Events");
  static constexpr bool encodable = Encodable<E>;
  static_assert(
      encodable,
      "evershard: this event cannot be encoded: make it a Protobuf message, or specialise evershard::Codec for it");
  static constexpr bool named = Named<E>;
  static_assert(
      named,
      "evershard: this event has no logical name: give Codec<Event>::name, or specialise evershard::logical_name");
  static constexpr bool applied = requires(typename A::State & state, const E& event) { A::apply(state, event); };
  static_assert(applied, "evershard: the aggregate has no static void apply(State&, const Event&) for this event");
  static constexpr bool changes = !applied || !requires(const typename A::State& state, const E& event) {
    A::apply(state, event);
  };
  static_assert(
      changes,
      "evershard: apply of this event takes the state by value or by const&: it must take State& to change it");
  static constexpr bool value = once && encodable && named && applied && changes;
};

/// One event of `OldEvents`, of an aggregate or a view.
template <class Owner, class E>
struct OldEventRules {
  static constexpr bool once =
      times_listed<E, typename Owner::OldEvents> == 1 && times_listed<E, typename Owner::Events> == 0;
  static_assert(once, "evershard: this old event is listed twice, in OldEvents or in Events besides");
  static constexpr bool encodable = Encodable<E> && Named<E>;
  static_assert(
      encodable,
      "evershard: this old event cannot be decoded: it must be a Protobuf message, or have a Codec with a name");
  static constexpr bool upcast = Upcasts<Owner, E>;
  static_assert(upcast, "evershard: there is no static upcast(const OldEvent&) for this event of OldEvents");
  static constexpr bool lands = [] {
    if constexpr (upcast) {
      return becomes_events<Owner, std::remove_cvref_t<decltype(Owner::upcast(std::declval<const E&>()))>>;
    }
    return true;
  }();
  static_assert(
      lands,
      "evershard: upcast of this event gives neither an event of Events or OldEvents, nor an optional, vector, "
      "variant or tuple of them");
  static constexpr bool value = once && encodable && upcast && lands;
};

/// One event of a view's `Events`.
template <class V, class E>
struct ViewEventRules {
  static constexpr bool encodable = Encodable<E> && Named<E>;
  static_assert(
      encodable,
      "evershard: this event of a view cannot be decoded: it must be a Protobuf message, or have a Codec with a name");
  static constexpr bool applied = requires(V & view, const E& event) { view.apply(event); }
  || requires(V& view, const E& event, const RecordedEvent& at) { view.apply(event, at); };
  static_assert(applied,
                "evershard: the view has no void apply(const Event&), or apply(const Event&, const RecordedEvent&), "
                "for this event");
  static constexpr bool value = encodable && applied;
};

/// A decision model of a command.
template <class V, class C>
struct ViewRules {
  static constexpr bool queried = requires(const C& command) {
    { V::query(command) } -> std::convertible_to<Query>;
  };
  static_assert(queried, "evershard: the view has no static evershard::Query query(const Command&) for this command");
  static constexpr bool made = std::constructible_from<V, const C&> || std::default_initializable<V>;
  static_assert(made, "evershard: the view can be made neither of this command nor of nothing");
  static constexpr bool lists = requires { requires is_types<typename V::Events>; };
  static_assert(lists, "evershard: the view lacks `using Events = evershard::Types<...>`: the events it is made of");
  static constexpr bool old_lists =
      is_types<typename OwnOldEventsOf<V>::type> && is_types<typename UpcastByOf<V>::type>;
  static_assert(old_lists, "evershard: OldEvents or UpcastBy of the view is not an evershard::Types<...>");
  static constexpr bool events = [] {
    if constexpr (lists && old_lists) {
      return []<class... Es, class... Os>(Types<Es...>, Types<Os...>) {
        return (ViewEventRules<V, Es>::value && ... && true) && (OldEventRules<V, Os>::value && ... && true);
      }(typename V::Events{}, typename OwnOldEventsOf<V>::type{});
    }
    return false;
  }();
  static constexpr bool value = queried && made && events;
};

/// An old event of another aggregate, whose events a view reads: else the view misses what it became.
template <class V, class Owner, class Old>
struct ReadsOldEvent {
  static constexpr bool read = listed<Old, typename V::Events> || listed<Old, typename OldEventsOf<V>::type> ||
                               !BecomesOneOf<Owner, typename V::Events, Old>::value;
  static_assert(read,
                "evershard: this view lists an event, and not the old one that becomes it: add `using UpcastBy = "
                "evershard::Types<Owner>;`, or the old one to the view's OldEvents");
  static constexpr bool value = read;
};

/// What a command asks before it is decided.
template <class A, class C>
struct PrepareRules {
  using Question = typename PreparedOf<A, C>::Question;
  using Answer = typename PreparedOf<A, C>::Answer;
  static constexpr bool encodable = Encodable<Question> && Named<Question>;
  static_assert(encodable,
                "evershard: what prepare of this command asks cannot be encoded: let it return a Protobuf message, a "
                "type with a Codec that has a name, or a std::optional of one");
  static constexpr bool listed = !std::is_void_v<Answer>;
  static_assert(listed,
                "evershard: nothing is said of the answer to this question: add `using Prepares = "
                "evershard::Types<evershard::Asks<Question, Answer>>;`");
  static constexpr bool answered = [] {
    if constexpr (listed) return Encodable<Answer>;
    return true;
  }();
  static_assert(answered,
                "evershard: the answer to this question cannot be encoded: make it a Protobuf message, or specialise "
                "evershard::Codec for it");
  static constexpr bool value = encodable && listed && answered;
};

/// One command of an aggregate's `Commands`, and its handler.
template <class A, class C>
struct CommandRules {
  static constexpr bool once = times_listed<C, typename A::Commands> == 1;
  static_assert(once, "evershard: this command is listed twice in Commands");
  static constexpr bool encodable = Encodable<C>;
  static_assert(
      encodable,
      "evershard: this command cannot be encoded: make it a Protobuf message, or specialise evershard::Codec for it");
  static constexpr bool named = Named<C>;
  static_assert(
      named,
      "evershard: this command has no logical name: give Codec<Command>::name, or specialise evershard::logical_name");
  static constexpr bool prepared = [] {
    if constexpr (PreparedOf<A, C>::asks) return PrepareRules<A, C>::value;
    return true;
  }();
  static constexpr bool mutates = handlers_of<A, C> == 0 && requires(typename A::State & state, const C& command) {
    A::on(state, command);
  };
  static_assert(
      !mutates,
      "evershard: the handler of this command takes State&: it must take const State&, only apply changes a state");
  static constexpr bool handled = handlers_of<A, C> > 0;
  static_assert(handled || !prepared || !PreparedOf<A, C>::asks,
                "evershard: this command is prepared: the aggregate has no static on(const State&, const Command&, "
                "const Answer&) for it, or with std::optional<Answer> where prepare returns an optional");
  static_assert(handled || mutates || PreparedOf<A, C>::asks,
                "evershard: the aggregate has no static on(const State&, const Command&) for this command, nor one "
                "with a view of Views");
  static constexpr bool one = handlers_of<A, C> <= 1;
  static_assert(one, "evershard: the aggregate has several handlers for this command, with different views");
  static constexpr bool answers = [] {
    if constexpr (handlers_of<A, C> == 1) return Encodable<ReplyOf<A, C>>;
    return true;
  }();
  static_assert(answers,
                "evershard: what the handler of this command replies cannot be encoded: it must be a Protobuf message, "
                "have a Codec, "
                "or be evershard::Done");
  static constexpr bool viewed = [] {
    if constexpr (handlers_of<A, C> == 1) {
      if constexpr (!std::is_void_v<typename ViewOf<A, C>::type>)
        return ViewRules<typename ViewOf<A, C>::type, C>::value;
    }
    return true;
  }();
  static constexpr bool value = once && encodable && named && prepared && handled && one && answers && viewed;
};

template <class A, bool Complete>
struct MemberRules {
  static constexpr bool value = false;
};
template <class A>
struct MemberRules<A, true> {
  static constexpr bool value = []<class... Es, class... Os, class... Cs>(Types<Es...>, Types<Os...>, Types<Cs...>) {
    return (EventRules<A, Es>::value && ... && true) && (OldEventRules<A, Os>::value && ... && true) &&
           (CommandRules<A, Cs>::value && ... && true);
  }(typename A::Events{}, typename OldEventsOf<A>::type{}, typename A::Commands{});
};

/// The whole of an aggregate. `value` is false where a rule is broken, so that nothing is built on it and no second
/// error follows.
template <class A>
struct AggregateRules {
  static constexpr bool typed = requires {
    { A::type } -> std::convertible_to<std::string_view>;
  };
  static_assert(
      typed, "evershard: the aggregate has no logical name: add `static constexpr std::string_view type = \"...\";`");
  static constexpr bool has_state = requires { typename A::State; };
  static_assert(has_state, "evershard: the aggregate has no `using State = ...`");
  static constexpr bool encodable = [] {
    if constexpr (has_state) return Encodable<typename A::State>;
    return true;
  }();
  static_assert(encodable,
                "evershard: the aggregate's State cannot be encoded: make it a Protobuf message, or specialise "
                "evershard::Codec for it");
  static constexpr bool regular = [] {
    if constexpr (has_state) return std::default_initializable<typename A::State> && std::copyable<typename A::State>;
    return true;
  }();
  static_assert(
      regular,
      "evershard: the aggregate's State must be default-constructible, the state before the first event, and copyable");
  static constexpr bool has_commands = requires { requires is_types<typename A::Commands>; };
  static_assert(has_commands, "evershard: the aggregate has no `using Commands = evershard::Types<...>`");
  static constexpr bool has_events = requires { requires is_types<typename A::Events>; };
  static_assert(has_events, "evershard: the aggregate has no `using Events = evershard::Types<...>`");
  static constexpr bool has_lists = is_types<typename OldEventsOf<A>::type> && is_types<typename ViewsOf<A>::type>;
  static_assert(has_lists, "evershard: OldEvents or Views of the aggregate is not an evershard::Types<...>");

  static constexpr bool value = MemberRules < A,
                        typed &&has_state &&encodable &&regular &&has_commands &&has_events &&has_lists > ::value;
};

}  // namespace evershard
