// Effect: what a command's handler wants to happen: events, an answer, or a refusal.

#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

#include "evershard/actors/model/codec.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/timers.hpp"

namespace evershard {

/// The reply of commands that have none: that it is done is all they say.
struct Done {
  friend bool operator==(const Done&, const Done&) = default;
};
template <>
struct Codec<Done> {
  static constexpr PayloadFormat format = PayloadFormat::unspecified;
  static std::string encode(const Done&) { return {}; }
  static Done decode(std::string_view) { return {}; }
};

/// An event as a handler gave it.
struct GivenEvent {
  const std::type_info* type;
  std::shared_ptr<const void> value;

  template <class E>
  static GivenEvent of(E event) {
    return {&typeid(E), std::make_shared<const E>(std::move(event))};
  }
};

/// What a handler decided, its types behind pointers. Moved and destroyed in the source: every handler does, and a
/// user's compiler should not have to write it out each time.
struct Decided {
  std::vector<GivenEvent> events;
  std::vector<AppendCondition> conditions;
  TimersChanged timers;
  std::optional<Error> unusable;  ///< what was given cannot be encoded
  bool snapshot = false;
  bool rejected = false;
  std::string rejection;
  const std::type_info* reply_of = nullptr;  ///< the type of state the reply is made of; null: of none
  std::function<Result<std::string>(const void* state)> reply;

  Decided();
  Decided(Decided&&) noexcept;
  Decided& operator=(Decided&&) noexcept;
  ~Decided();

  void add(GivenEvent event);
  template <class E>
  void add_event(E event) {
    add(GivenEvent::of(std::move(event)));
  }
  /// Events of several types in one list.
  template <class... Es>
  void add_event(std::variant<Es...> event) {
    std::visit([this](auto&& one) { add_event(std::forward<decltype(one)>(one)); }, std::move(event));
  }
  void fail_if(Query query, GlobalPosition after);
  void schedule(TimerSet timer, Result<std::string> command);
  template <class C>
  void schedule_command(TimerSet timer, const C& command) {
    static_assert(Encodable<C> && Named<C>,
                  "evershard: schedule(...): what is scheduled is a command: a Protobuf message, or with a Codec that "
                  "has a name");
    if constexpr (Encodable<C> && Named<C>) {
      timer.command = name_of_type<C>();
      schedule(std::move(timer), to_bytes(command));
    }
  }
  void cancel(std::string timer);
  /// Answers with a reply that is encoded already, or with the error of encoding it.
  void answer(Result<std::string> reply);
};

struct Rejection {
  std::string text;
};
struct NoReply {};

template <class Reply = Done>
class Effect;
template <class T>
inline constexpr bool is_effect = false;
template <class R>
inline constexpr bool is_effect<Effect<R>> = true;

/// Events to be written, and what to answer then. X: NoReply, the reply itself, or how to make it of the state.
template <class X>
class Persist {
 public:
  Persist(Decided decided, X x) : decided_(std::move(decided)), reply_(std::move(x)) {}

  /// The answer: the reply, or a function of the state *after* the events: `[](const State& state) { return ...; }`.
  template <class Y>
  [[nodiscard]] auto reply(Y y) && {
    static_assert(std::is_same_v<X, NoReply>, "evershard: .reply(...) is given twice");
    return Persist<Y>(std::move(decided_), std::move(y));
  }
  /// Nothing is written, and the command fails with condition_failed, where an event that matches stands after `after`.
  Persist& fail_if(Query query, GlobalPosition after = GlobalPosition{0}) & {
    decided_.fail_if(std::move(query), after);
    return *this;
  }
  [[nodiscard]] Persist fail_if(Query query, GlobalPosition after = GlobalPosition{0}) && {
    return std::move(fail_if(std::move(query), after));
  }
  /// A snapshot is written with the events.
  Persist& with_snapshot() & {
    decided_.snapshot = true;
    return *this;
  }
  [[nodiscard]] Persist with_snapshot() && { return std::move(with_snapshot()); }

  /// The aggregate is sent the command after that time, in the place of a timer of the same name. The timer is as
  /// durable as the events.
  template <class C>
  Persist& schedule(std::string timer, std::chrono::microseconds after, const C& command) & {
    decided_.schedule_command(TimerSet{.name = std::move(timer), .after = after}, command);
    return *this;
  }
  template <class C>
  [[nodiscard]] Persist schedule(std::string timer, std::chrono::microseconds after, const C& command) && {
    return std::move(schedule(std::move(timer), after, command));
  }
  /// At that time.
  template <class C>
  Persist& schedule_at(std::string timer, Timestamp at, const C& command) & {
    decided_.schedule_command(TimerSet{.name = std::move(timer), .at = at}, command);
    return *this;
  }
  template <class C>
  [[nodiscard]] Persist schedule_at(std::string timer, Timestamp at, const C& command) && {
    return std::move(schedule_at(std::move(timer), at, command));
  }
  /// Again and again, for the first time after `every`. Times that are missed are not made up for.
  template <class C>
  Persist& schedule_every(std::string timer, std::chrono::microseconds every, const C& command) & {
    decided_.schedule_command(TimerSet{.name = std::move(timer), .after = every, .every = every}, command);
    return *this;
  }
  template <class C>
  [[nodiscard]] Persist schedule_every(std::string timer, std::chrono::microseconds every, const C& command) && {
    return std::move(schedule_every(std::move(timer), every, command));
  }
  /// Again and again, at the times of a calendar, as `"0 9 * * MON-FRI", "Europe/Berlin"` (Calendar). As above.
  template <class C>
  Persist& schedule_calendar(std::string timer, std::string calendar, std::string zone, const C& command) & {
    decided_.schedule_command(TimerSet{.name = std::move(timer), .calendar = {{std::move(calendar), std::move(zone)}}},
                              command);
    return *this;
  }
  template <class C>
  [[nodiscard]] Persist schedule_calendar(std::string timer, std::string calendar, std::string zone,
                                          const C& command) && {
    return std::move(schedule_calendar(std::move(timer), std::move(calendar), std::move(zone), command));
  }
  /// The timer of that name fires no more. There need not be one.
  Persist& cancel(std::string timer) & {
    decided_.cancel(std::move(timer));
    return *this;
  }
  [[nodiscard]] Persist cancel(std::string timer) && { return std::move(cancel(std::move(timer))); }

  /// This conversion exists only for the message of its static_assert.
  template <class Reply>
  requires(!is_effect<Reply>) operator Reply() && {
    static_assert(is_effect<Reply>,
                  "evershard: a handler that returns its reply itself is a query and cannot persist: let it return "
                  "evershard::Effect<Reply>");
    std::terminate();
  }

 private:
  template <class Reply>
  friend class Effect;
  Decided decided_;
  X reply_;
};

/// Writes these events, in this order, as one atomic unit.
template <class... Es>
[[nodiscard]] Persist<NoReply> persist(Es... events) {
  static_assert(sizeof...(Es) > 0, "evershard: persist() without events: use reply(...) or nothing()");
  Decided decided;
  (decided.add_event(std::move(events)), ...);
  return Persist<NoReply>(std::move(decided), {});
}

/// Writes the events of a range; they may be variants. None: nothing is written.
template <class Range>
[[nodiscard]] Persist<NoReply> persist_all(Range&& range) {
  Decided decided;
  for (const auto& event : range) decided.add_event(event);
  return Persist<NoReply>(std::move(decided), {});
}

/// As those of persist(...), without an event.
template <class C>
[[nodiscard]] Persist<NoReply> schedule(std::string timer, std::chrono::microseconds after, const C& command) {
  return Persist<NoReply>({}, {}).schedule(std::move(timer), after, command);
}
template <class C>
[[nodiscard]] Persist<NoReply> schedule_at(std::string timer, Timestamp at, const C& command) {
  return Persist<NoReply>({}, {}).schedule_at(std::move(timer), at, command);
}
template <class C>
[[nodiscard]] Persist<NoReply> schedule_every(std::string timer, std::chrono::microseconds every, const C& command) {
  return Persist<NoReply>({}, {}).schedule_every(std::move(timer), every, command);
}
template <class C>
[[nodiscard]] Persist<NoReply> schedule_calendar(std::string timer, std::string calendar, std::string zone,
                                                 const C& command) {
  return Persist<NoReply>({}, {}).schedule_calendar(std::move(timer), std::move(calendar), std::move(zone), command);
}
[[nodiscard]] inline Persist<NoReply> cancel(std::string timer) {
  return Persist<NoReply>({}, {}).cancel(std::move(timer));
}

/// Says no. Nothing is written; the caller gets the text and may ask again.
[[nodiscard]] inline Rejection reject(std::string text) { return {std::move(text)}; }

template <class X>
struct Unchanged {
  X reply;
};
/// Changes nothing, and answers with a reply, or with a function of the state.
template <class X>
[[nodiscard]] Unchanged<X> reply(X x) {
  return {std::move(x)};
}
/// Changes nothing, and has nothing to say.
[[nodiscard]] inline Unchanged<NoReply> nothing() { return {}; }

/// What a function takes; void where it cannot be told (a template, several overloads).
template <class F>
struct Taken {
  using type = void;
};
template <class R, class S>
struct Taken<R (*)(S)> {
  using type = std::remove_cvref_t<S>;
};
template <class R, class S>
struct Taken<R (*)(S) noexcept> : Taken<R (*)(S)> {};
template <class R, class F, class S>
struct Taken<R (F::*)(S) const> : Taken<R (*)(S)> {};
template <class R, class F, class S>
struct Taken<R (F::*)(S) const noexcept> : Taken<R (*)(S)> {};
template <class R, class F, class S>
struct Taken<R (F::*)(S)> : Taken<R (*)(S)> {};
template <class F>
requires requires { &F::operator(); }
struct Taken<F> : Taken<decltype(&F::operator())> {};

/// What a handler decided, whichever way. A handler never makes one by hand: it returns persist(...), reply(...),
/// reject(...).
template <class Reply>
class Effect {
 public:
  using ReplyType = Reply;
  static constexpr bool encodable = Encodable<Reply>;
  static_assert(encodable,
                "evershard: what the handler of this command replies cannot be encoded: it must be a Protobuf message, "
                "have a Codec, "
                "or be evershard::Done");

  Effect(Rejection rejection) {
    decided_.rejected = true;
    decided_.rejection = std::move(rejection.text);
  }
  template <class X>
  Effect(Persist<X> persist) : decided_(std::move(persist.decided_)) {
    answer_with(std::move(persist.reply_));
  }
  template <class X>
  Effect(Unchanged<X> unchanged) {
    answer_with(std::move(unchanged.reply));
  }

  [[nodiscard]] Decided decided() && { return std::move(decided_); }

 private:
  template <class X>
  void answer_with(X x) {
    if constexpr (!encodable) {
      // Said above.
    } else if constexpr (std::is_same_v<X, NoReply>) {
      static_assert(
          std::is_same_v<Reply, Done>,
          "evershard: the effect has no reply: add .reply(...), or let the handler return evershard::Effect<>");
      decided_.answer(std::string());
    } else if constexpr (std::is_same_v<X, Reply>) {
      decided_.answer(Codec<Reply>::encode(x));
    } else if constexpr (std::is_convertible_v<X, Reply>) {
      decided_.answer(Codec<Reply>::encode(Reply(std::move(x))));
    } else if constexpr (!std::is_void_v<typename Taken<X>::type>) {
      using State = typename Taken<X>::type;
      static_assert(std::is_invocable_r_v<Reply, const X&, const State&>,
                    "evershard: reply(f): f(const State&) does not give the reply type of the handler's Effect");
      if constexpr (std::is_invocable_r_v<Reply, const X&, const State&>) {
        decided_.reply_of = &typeid(State);
        decided_.reply = [x = std::move(x)](const void* state) -> Result<std::string> {
          const Reply reply = x(*static_cast<const State*>(state));
          return Codec<Reply>::encode(reply);
        };
      }
    } else {
      static_assert(
          std::is_convertible_v<X, Reply>,
          "evershard: reply(x): x is neither of the reply type of the handler's Effect nor a function of the state, "
          "as [](const State& state) { return ...; }");
    }
  }

  Decided decided_;
};

}  // namespace evershard
