// make_kind: an aggregate's AggregateKind, from the struct that its user wrote.

#pragma once

#include <concepts>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "evershard/actors/model/kind_table.hpp"
#include "evershard/actors/model/rules.hpp"

namespace evershard {

/// A state or a view, as the runtime holds it.
template <class T>
struct Held final : AnyState {
  Held() = default;
  explicit Held(T v) : value(std::move(v)) {}
  T value{};
};

template <class T>
[[nodiscard]] WrittenType written_type() {
  WrittenType written{Codec<T>::format};
  if constexpr (ProtobufMessage<T>) written.message = &T::default_instance();
  return written;
}

/// The functions of an aggregate's table.
template <class A>
struct TypedKind {
  using State = typename A::State;

  static State& state_in(AnyState& state) { return static_cast<Held<State>&>(state).value; }
  static const State& state_in(const AnyState& state) { return static_cast<const Held<State>&>(state).value; }

  static StatePtr initial() { return std::make_unique<Held<State>>(); }
  static StatePtr copy(const AnyState& state) { return std::make_unique<Held<State>>(state_in(state)); }
  static const void* typed(const AnyState& state) { return &state_in(state); }
  static Result<std::string> encode(const AnyState& state) { return Codec<State>::encode(state_in(state)); }
  static std::string subject(const AnyState& state) {
    if constexpr (requires { A::subject(state_in(state)); }) return A::subject(state_in(state));
    return {};
  }
  static Result<void> decode(std::string_view bytes, AnyState& state) { return parse_bytes(bytes, state_in(state)); }

  template <class E>
  static Result<void> apply(AnyState& state, std::string_view payload) {
    E event;
    EVERSHARD_TRY(parse_bytes(payload, event));
    const auto sink = [&](const auto& today) { A::apply(state_in(state), today); };
    upcast_into<A>(sink, event);
    return {};
  }

  /// The event as it is written: bytes, tags, further aggregates.
  template <class E>
  static Result<void> encode_event(const void* given, DecidedEvent& decided) {
    const E& event = *static_cast<const E*>(given);
    Result<std::string> payload = Codec<E>::encode(event);
    if (!payload) return Refused(std::move(payload).error());
    decided.payload = std::move(*payload);
    decided.type = name_of_type<E>();
    decided.format = Codec<E>::format;
    if constexpr (requires { A::tags(event); }) {
      for (auto&& tag : A::tags(event)) decided.tags.emplace_back(tag);
    }
    if constexpr (requires { A::subject(event); }) decided.subject = A::subject(event);
    if constexpr (requires { A::also(event); }) {
      for (auto&& aggregate : A::also(event)) decided.also.emplace_back(aggregate);
    }
    return {};
  }

  template <class V, class E>
  static Result<void> apply_to_view(AnyState& view, const RecordedEvent& recorded) {
    E event;
    EVERSHARD_TRY(parse_bytes(recorded.payload, event));
    V& model = static_cast<Held<V>&>(view).value;
    const auto sink = [&](const auto& today) {
      if constexpr (requires { model.apply(today, recorded); }) {
        model.apply(today, recorded);
      } else {
        model.apply(today);
      }
    };
    upcast_into<V>(sink, event);
    return {};
  }

  template <class C, class V>
  static Result<void> view(std::string_view bytes, DecisionModel& model) {
    C parsed;
    EVERSHARD_TRY(parse_bytes(bytes, parsed));
    const C& command = parsed;
    model.query = V::query(command);
    if constexpr (std::constructible_from<V, const C&>) {
      model.model = std::make_unique<Held<V>>(V(command));
    } else {
      model.model = std::make_unique<Held<V>>();
    }
    return {};
  }

  template <class C>
  static Result<void> prepare(const AnyState& state, std::string_view bytes, std::optional<CommandBytes>& question) {
    C parsed;
    EVERSHARD_TRY(parse_bytes(bytes, parsed));
    const C& command = parsed;
    const std::optional<typename PreparedOf<A, C>::Question> asked = A::prepare(state_in(state), command);
    if (!asked) return {};
    auto encoded = to_bytes(*asked);
    if (!encoded) return Refused(std::move(encoded).error());
    question = CommandBytes{name_of_type<typename PreparedOf<A, C>::Question>(), std::move(*encoded)};
    return {};
  }

  template <class C, class V>
  static Result<void> decide(const AnyState& state, std::string_view bytes, [[maybe_unused]] const AnyState* view,
                             [[maybe_unused]] const std::string* answer, Decided& decided) {
    C parsed;
    EVERSHARD_TRY(parse_bytes(bytes, parsed));
    const C& command = parsed;
    const auto on_view = [&](const auto&... given) {
      if constexpr (std::is_void_v<V>) {
        fill(decided, A::on(state_in(state), command, given...));
      } else {
        fill(decided, A::on(state_in(state), command, static_cast<const Held<V>*>(view)->value, given...));
      }
    };
    if constexpr (PreparedOf<A, C>::asks) {
      typename PreparedOf<A, C>::Given given{};
      if constexpr (PreparedOf<A, C>::optional) {
        if (answer != nullptr) EVERSHARD_TRY(parse_bytes(*answer, given.emplace()));
      } else {
        EVERSHARD_TRY(parse_bytes(*answer, given));
      }
      on_view(given);
    } else {
      on_view();
    }
    return {};
  }

  template <class R>
  static void fill(Decided& decided, Effect<R>&& effect) {
    decided = std::move(effect).decided();
  }
  template <class R>
  static void fill(Decided& decided, const R& reply) {
    decided.answer(Codec<R>::encode(reply));
  }

  template <class C>
  static CommandRow command_row() {
    using V = typename ViewOf<A, C>::type;
    CommandRow row;
    row.name = name_of_type<C>();
    row.type = &typeid(C);
    row.query = is_query_of<A, C>;
    row.written = written_type<C>();
    row.reply = written_type<ReplyOf<A, C>>();
    row.replies = !std::is_same_v<ReplyOf<A, C>, Done>;
    row.decide = &decide<C, V>;
    if constexpr (PreparedOf<A, C>::asks) {
      row.prepare = &prepare<C>;
      row.question = name_of_type<typename PreparedOf<A, C>::Question>();
      if constexpr (Named<typename PreparedOf<A, C>::Answer>)
        row.answer = name_of_type<typename PreparedOf<A, C>::Answer>();
      row.always_asks = !PreparedOf<A, C>::optional;
    }
    if constexpr (!std::is_void_v<V>) {
      row.view = &view<C, V>;
      const auto add = [&]<class E>() { row.view_events.push_back({name_of_type<E>(), &apply_to_view<V, E>}); };
      for_each_type(typename V::Events{}, add);
      for_each_type(typename OldEventsOf<V>::type{}, add);
    }
    return row;
  }

  static KindTable table() {
    KindTable table;
    table.type = std::string(std::string_view(A::type));
    table.cpp_type = &typeid(A);
    table.state_type = &typeid(State);
    if constexpr (requires { A::schema_revision; }) table.schema_revision = A::schema_revision;
    if constexpr (requires { A::retention; }) table.retention = A::retention;
    table.state = written_type<State>();
    table.initial = &initial;
    table.copy = &copy;
    table.typed = &typed;
    table.encode = &encode;
    table.subject = &subject;
    table.decode = &decode;
    for_each_type(typename A::Events{}, [&]<class E>() {
      table.events.push_back({name_of_type<E>(), &typeid(E), &apply<E>, &encode_event<E>, written_type<E>()});
    });
    for_each_type(typename OldEventsOf<A>::type{}, [&]<class E>() {
      table.events.push_back({name_of_type<E>(), &typeid(E), &apply<E>, nullptr, written_type<E>()});
    });
    for_each_type(typename A::Commands{}, [&]<class C>() { table.commands.push_back(command_row<C>()); });
    for_each_type(typename OldEventsOf<A>::type{}, [&]<class Old>() {
      auto& names = table.old_names.emplace_back();
      names.old = name_of_type<Old>();
      for_each_type(typename A::Events{}, [&]<class E>() {
        if constexpr (BecomesOneOf<A, Types<E>, Old>::value) names.becomes.push_back(name_of_type<E>());
      });
    });
    if constexpr (requires { typename A::Reads; }) {
      auto& reader = table.readers.emplace_back();
      reader.what = "process " + table.type;
      for_each_type(typename A::Reads{}, [&]<class E>() { reader.events.push_back(name_of_type<E>()); });
    }
    return table;
  }
};

/// Of a view: the types of its events, with those of before: what its query asks for.
template <class V>
[[nodiscard]] std::vector<std::string> names_read_by() {
  std::vector<std::string> names;
  const auto add = [&]<class E>() { names.push_back(name_of_type<E>()); };
  for_each_type(typename V::Events{}, add);
  for_each_type(typename OldEventsOf<V>::type{}, add);
  return names;
}

/// What the runtime hosts. A broken rule is a compile error that begins with `evershard:`.
///
/// Errors: invalid_argument, too_large  a logical name is empty, malformed, too long or given twice
template <class A>
[[nodiscard]] Result<std::shared_ptr<const AggregateKind>> make_kind() {
  if constexpr (AggregateRules<A>::value) return kind_of(TypedKind<A>::table());
  return refuse(ErrorCode::invalid_argument, "not an aggregate");
}

}  // namespace evershard
