// Reaction: what an instance of a process wants to happen: commands to aggregates, timers, events of its own, its end.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/actors/model/codec.hpp"
#include "evershard/actors/model/effect.hpp"
#include "evershard/actors/model/types.hpp"
#include "evershard/protocol/processes.hpp"

namespace evershard {

/// Why a command of an instance was not carried out.
struct Rejected {
  AggregateId aggregate;  ///< that said no
  std::string reason;     ///< its text
};

/// Made by react(): `return react().send<Account>("ann", debit).schedule("late", 1h, GiveUp{});`. One without anything
/// leaves no trace.
class Reaction {
 public:
  Reaction() = default;

  /// The aggregate is asked this command, once, when the reaction is durable; commands of an instance one after the
  /// other. Where it is rejected, on_rejected says what follows.
  template <class A, class C>
  Reaction& send(std::string_view value, const C& command) & {
    static_assert(listed<C, typename A::Commands>, "evershard: send<A>(...): A takes no such command");
    add(AggregateId{std::string(std::string_view(A::type)), std::string(value)}, name_of_type<C>(), to_bytes(command));
    return *this;
  }
  template <class A, class C>
  [[nodiscard]] Reaction send(std::string_view value, const C& command) && {
    return std::move(send<A>(value, command));
  }
  /// Something outside is done, by the handler that the program gave for it: at least once, with the same key each
  /// time, when the reaction is durable, and beside other effects. What becomes of it is told to the instance.
  template <class E>
  Reaction& perform(const E& effect) & {
    static_assert(Encodable<E> && Named<E>,
                  "evershard: perform(...): an effect is a Protobuf message, or has a Codec with a name");
    add(name_of_type<E>(), to_bytes(effect));
    return *this;
  }
  template <class E>
  [[nodiscard]] Reaction perform(const E& effect) && {
    return std::move(perform(effect));
  }
  /// Events of the instance, in this order: the only thing that changes its state.
  template <class... Es>
  Reaction& record(Es... events) & {
    (decided_.add_event(std::move(events)), ...);
    return *this;
  }
  template <class... Es>
  [[nodiscard]] Reaction record(Es... events) && {
    return std::move(record(std::move(events)...));
  }
  /// The instance is told after that time, in the place of a timer of the same name.
  template <class T>
  Reaction& schedule(std::string timer, std::chrono::microseconds after, const T& told) & {
    set(TimerSet{.name = std::move(timer), .after = after}, name_of_type<T>(), to_bytes(told));
    return *this;
  }
  template <class T>
  [[nodiscard]] Reaction schedule(std::string timer, std::chrono::microseconds after, const T& told) && {
    return std::move(schedule(std::move(timer), after, told));
  }
  template <class T>
  Reaction& schedule_at(std::string timer, Timestamp at, const T& told) & {
    set(TimerSet{.name = std::move(timer), .at = at}, name_of_type<T>(), to_bytes(told));
    return *this;
  }
  template <class T>
  [[nodiscard]] Reaction schedule_at(std::string timer, Timestamp at, const T& told) && {
    return std::move(schedule_at(std::move(timer), at, told));
  }
  template <class T>
  Reaction& schedule_every(std::string timer, std::chrono::microseconds every, const T& told) & {
    set(TimerSet{.name = std::move(timer), .after = every, .every = every}, name_of_type<T>(), to_bytes(told));
    return *this;
  }
  template <class T>
  [[nodiscard]] Reaction schedule_every(std::string timer, std::chrono::microseconds every, const T& told) && {
    return std::move(schedule_every(std::move(timer), every, told));
  }
  template <class T>
  Reaction& schedule_calendar(std::string timer, std::string calendar, std::string zone, const T& told) & {
    set(TimerSet{.name = std::move(timer), .calendar = {{std::move(calendar), std::move(zone)}}}, name_of_type<T>(),
        to_bytes(told));
    return *this;
  }
  template <class T>
  [[nodiscard]] Reaction schedule_calendar(std::string timer, std::string calendar, std::string zone,
                                           const T& told) && {
    return std::move(schedule_calendar(std::move(timer), std::move(calendar), std::move(zone), told));
  }
  Reaction& cancel(std::string timer) & {
    decided_.cancel(std::move(timer));
    return *this;
  }
  [[nodiscard]] Reaction cancel(std::string timer) && { return std::move(cancel(std::move(timer))); }
  /// Whose data the commands, effects and timers are: they are sealed under that subject's key. By default that of the
  /// event that is reacted to, or of what is recorded.
  Reaction& of_subject(std::string subject) & {
    subject_ = std::move(subject);
    return *this;
  }
  [[nodiscard]] Reaction of_subject(std::string subject) && { return std::move(of_subject(std::move(subject))); }
  /// The instance reacts to nothing any more. What it sent is carried out all the same; cancel its timers.
  Reaction& end() & {
    ended_ = true;
    return *this;
  }
  [[nodiscard]] Reaction end() && { return std::move(end()); }

  [[nodiscard]] bool empty() const;
  /// As the aggregate that an instance is decides: its events, and one that says the rest.
  [[nodiscard]] Decided decided(ProcessReacted because) &&;

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

[[nodiscard]] inline Reaction react() { return {}; }
/// Nothing is to happen.
[[nodiscard]] inline Reaction ignore() { return {}; }

}  // namespace evershard
