// Reaction<P>: what an instance of a process wants to happen: commands to aggregates, timers, events of its own, its
// end.

#pragma once

#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/actors/model/codec.hpp"
#include "evershard/actors/model/effect.hpp"
#include "evershard/actors/model/types.hpp"
#include "evershard/actors/process/process_lists.hpp"
#include "evershard/protocol/processes.hpp"

namespace evershard {

/// Why a command of an instance was not carried out.
struct Rejected {
  AggregateId aggregate;  ///< that said no
  std::string reason;     ///< its text
};

/// A reaction of whichever process: names and bytes.
class AnyReaction {
 public:
  [[nodiscard]] bool empty() const;
  /// As the aggregate that an instance is decides: its events, and one that says the rest.
  [[nodiscard]] Decided decided(ProcessReacted because) &&;

 protected:
  template <class A, class C>
  void add_command(std::string_view value, const C& command) {
    static_assert(listed<C, typename A::Commands>, "evershard: send<A>(...): A takes no such command");
    add(AggregateId{std::string(std::string_view(A::type)), std::string(value)}, name_of_type<C>(), to_bytes(command));
  }
  template <class E>
  void add_effect(const E& effect) {
    static_assert(Encodable<E> && Named<E>,
                  "evershard: perform(...): an effect is a Protobuf message, or has a Codec with a name");
    add(name_of_type<E>(), to_bytes(effect));
  }
  template <class... Es>
  void add_events(Es... events) {
    (decided_.add_event(std::move(events)), ...);
  }
  template <class T>
  void add_timer(TimerSet timer, const T& told) {
    set(std::move(timer), name_of_type<T>(), to_bytes(told));
  }
  void drop_timer(std::string timer) { decided_.cancel(std::move(timer)); }
  void seal_for(std::string subject) { subject_ = std::move(subject); }
  void end_it() { ended_ = true; }

 private:
  void add(AggregateId aggregate, std::string type, Result<std::string> command);
  void add(std::string type, Result<std::string> effect);
  void set(TimerSet timer, std::string type, Result<std::string> told);

  Decided decided_;
  std::vector<ProcessCommand> commands_;
  std::vector<ProcessEffect> effects_;
  bool ended_ = false;
  std::string subject_;
};

/// What a reaction has used: a process that it becomes one of must list it.
template <class T>
struct UsesTimer {
  template <class P>
  static constexpr bool fits = ListedTimer<P, T>::value;
};
template <class E>
struct UsesEvent {
  template <class P>
  static constexpr bool fits = ListedEvent<P, E>::value;
};
template <class E>
struct UsesEffect {
  template <class P>
  static constexpr bool fits = ListedEffect<P, E>::value;
};

/// Made by react(), and returned where a process returns its Reaction:
/// `return react().send<Account>("ann", debit).schedule("late", 1h, GiveUp{});`. Each says what Reaction<P> says of it.
template <class... Used>
class Reacting : public AnyReaction {
 public:
  Reacting() = default;
  explicit Reacting(AnyReaction&& so_far) : AnyReaction(std::move(so_far)) {}
  /// `return late ? react().record(expired) : ignore();`
  template <std::same_as<Reacting<>> Nothing>
  requires(sizeof...(Used) != 0) Reacting(Nothing nothing) : AnyReaction(std::move(nothing)) {}

  template <class A, class C>
  [[nodiscard]] Reacting send(std::string_view value, const C& command) && {
    this->template add_command<A>(value, command);
    return std::move(*this);
  }
  template <class E>
  [[nodiscard]] auto perform(const E& effect) && {
    this->add_effect(effect);
    return Reacting<Used..., UsesEffect<E>>(std::move(*this));
  }
  template <class... Es>
  [[nodiscard]] auto record(Es... events) && {
    this->add_events(std::move(events)...);
    return Reacting<Used..., UsesEvent<Es>...>(std::move(*this));
  }
  template <class T>
  [[nodiscard]] auto schedule(std::string timer, std::chrono::microseconds after, const T& told) && {
    return with_timer({.name = std::move(timer), .after = after}, told);
  }
  template <class T>
  [[nodiscard]] auto schedule_at(std::string timer, Timestamp at, const T& told) && {
    return with_timer({.name = std::move(timer), .at = at}, told);
  }
  template <class T>
  [[nodiscard]] auto schedule_every(std::string timer, std::chrono::microseconds every, const T& told) && {
    return with_timer({.name = std::move(timer), .after = every, .every = every}, told);
  }
  template <class T>
  [[nodiscard]] auto schedule_calendar(std::string timer, std::string calendar, std::string zone, const T& told) && {
    return with_timer({.name = std::move(timer), .calendar = {{std::move(calendar), std::move(zone)}}}, told);
  }
  [[nodiscard]] Reacting cancel(std::string timer) && {
    this->drop_timer(std::move(timer));
    return std::move(*this);
  }
  [[nodiscard]] Reacting of_subject(std::string subject) && {
    this->seal_for(std::move(subject));
    return std::move(*this);
  }
  [[nodiscard]] Reacting end() && {
    this->end_it();
    return std::move(*this);
  }

 private:
  template <class T>
  auto with_timer(TimerSet timer, const T& told) {
    this->add_timer(std::move(timer), told);
    return Reacting<Used..., UsesTimer<T>>(std::move(*this));
  }
};

/// What the functions of the process P return. One without anything leaves no trace. Timers, events and effects that P
/// does not list do not compile.
template <class P>
class Reaction : public AnyReaction {
 public:
  Reaction() = default;
  template <class... Used>
  Reaction(Reacting<Used...> chain) : AnyReaction(std::move(chain)) {
    static_cast<void>((Used::template fits<P> && ... && true));
  }
  /// Of what P is derived from.
  template <class Base>
  requires(!std::same_as<Base, P> && std::derived_from<P, Base>) Reaction(Reaction<Base> of_base)
      : AnyReaction(std::move(of_base)) {}

  /// The aggregate is asked this command, once, when the reaction is durable; commands of an instance one after the
  /// other. Where it is rejected, on_rejected says what follows.
  template <class A, class C>
  Reaction& send(std::string_view value, const C& command) & {
    this->template add_command<A>(value, command);
    return *this;
  }
  template <class A, class C>
  [[nodiscard]] Reaction send(std::string_view value, const C& command) && {
    return std::move(send<A>(value, command));
  }
  /// Something outside is done, by the handler that the program gave for it: at least once, with the same key each
  /// time, when the reaction is durable, and beside other effects. The instance is told what became of the effect.
  template <class E>
  Reaction& perform(const E& effect) & {
    static_cast<void>(ListedEffect<P, E>::value);
    this->add_effect(effect);
    return *this;
  }
  template <class E>
  [[nodiscard]] Reaction perform(const E& effect) && {
    return std::move(perform(effect));
  }
  /// Events of the instance, in this order: the only thing that changes its state.
  template <class... Es>
  Reaction& record(Es... events) & {
    static_cast<void>((ListedEvent<P, Es>::value && ... && true));
    this->add_events(std::move(events)...);
    return *this;
  }
  template <class... Es>
  [[nodiscard]] Reaction record(Es... events) && {
    return std::move(record(std::move(events)...));
  }
  /// The instance is told after that time, in the place of a timer of the same name.
  template <class T>
  Reaction& schedule(std::string timer, std::chrono::microseconds after, const T& told) & {
    return with_timer({.name = std::move(timer), .after = after}, told);
  }
  template <class T>
  [[nodiscard]] Reaction schedule(std::string timer, std::chrono::microseconds after, const T& told) && {
    return std::move(schedule(std::move(timer), after, told));
  }
  template <class T>
  Reaction& schedule_at(std::string timer, Timestamp at, const T& told) & {
    return with_timer({.name = std::move(timer), .at = at}, told);
  }
  template <class T>
  [[nodiscard]] Reaction schedule_at(std::string timer, Timestamp at, const T& told) && {
    return std::move(schedule_at(std::move(timer), at, told));
  }
  template <class T>
  Reaction& schedule_every(std::string timer, std::chrono::microseconds every, const T& told) & {
    return with_timer({.name = std::move(timer), .after = every, .every = every}, told);
  }
  template <class T>
  [[nodiscard]] Reaction schedule_every(std::string timer, std::chrono::microseconds every, const T& told) && {
    return std::move(schedule_every(std::move(timer), every, told));
  }
  template <class T>
  Reaction& schedule_calendar(std::string timer, std::string calendar, std::string zone, const T& told) & {
    return with_timer({.name = std::move(timer), .calendar = {{std::move(calendar), std::move(zone)}}}, told);
  }
  template <class T>
  [[nodiscard]] Reaction schedule_calendar(std::string timer, std::string calendar, std::string zone,
                                           const T& told) && {
    return std::move(schedule_calendar(std::move(timer), std::move(calendar), std::move(zone), told));
  }
  Reaction& cancel(std::string timer) & {
    this->drop_timer(std::move(timer));
    return *this;
  }
  [[nodiscard]] Reaction cancel(std::string timer) && { return std::move(cancel(std::move(timer))); }
  /// Whose data the commands, effects and timers are: they are sealed under that subject's key. By default that of the
  /// event that is reacted to, or of what is recorded.
  Reaction& of_subject(std::string subject) & {
    this->seal_for(std::move(subject));
    return *this;
  }
  [[nodiscard]] Reaction of_subject(std::string subject) && { return std::move(of_subject(std::move(subject))); }
  /// The instance reacts to nothing any more. What it sent is carried out all the same; cancel its timers.
  Reaction& end() & {
    this->end_it();
    return *this;
  }
  [[nodiscard]] Reaction end() && { return std::move(end()); }

 private:
  template <class T>
  Reaction& with_timer(TimerSet timer, const T& told) {
    static_cast<void>(ListedTimer<P, T>::value);
    this->add_timer(std::move(timer), told);
    return *this;
  }
};

[[nodiscard]] inline Reacting<> react() { return {}; }
/// Nothing is to happen.
[[nodiscard]] inline Reacting<> ignore() { return {}; }

}  // namespace evershard
