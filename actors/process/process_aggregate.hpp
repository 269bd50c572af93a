// ProcessAggregate<P>: an instance of a process as the aggregate that it is: it is told events, timers and rejections
// as commands, and what it decides are its events.

#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/actors/model/effect.hpp"
#include "evershard/actors/model/typed_kind.hpp"
#include "evershard/actors/model/upcast.hpp"
#include "evershard/actors/process/process_codecs.hpp"
#include "evershard/actors/process/process_rules.hpp"

namespace evershard {

template <class Own>
struct WithReacted;
template <class... Es>
struct WithReacted<Types<Es...>> {
  using type = Types<Es..., ProcessReacted>;
};

template <class P>
struct ProcessAggregate {
  static constexpr std::string_view type = P::type;
  static constexpr std::uint32_t schema_revision = [] {
    if constexpr (requires { P::schema_revision; }) return std::uint32_t{P::schema_revision};
    return std::uint32_t{0};
  }();
  static constexpr Retention retention = [] {
    if constexpr (requires { P::retention; }) return Retention{P::retention};
    return Retention{};
  }();
  using State = ProcessState<typename P::State>;
  using Commands = Types<ProcessEvent, ProcessTimer, ProcessRejection, ProcessPerformed, ProcessKnown>;
  using Events = typename WithReacted<typename P::Events>::type;
  using OldEvents = typename OwnOldEventsOf<P>::type;
  using Reads = typename P::Reacts;

  // What was reacted to is not again; what was handed in before it, and left no trace, neither.
  static Effect<> on(const State& instance, const ProcessEvent& told) {
    const auto& event = told.event;
    if (instance.ended || event.position <= instance.reacted_to) return nothing();
    if (told.begins_none && !is_known(instance)) return nothing();
    ProcessReacted because{ProcessReacted::Cause::event, event.position, 0, event.type};
    because.subject = event.subject;
    return written(reaction_to(instance.state, event), std::move(because));
  }
  static Effect<> on(const State& instance, const ProcessTimer& timer) {
    if (instance.ended) return nothing();
    Reaction<P> reaction;
    bool known = false;
    for_each_type(typename TimersOf<P>::type{}, [&]<class T>() {
      if (timer.type != name_of_type<T>()) return;
      known = true;
      reaction = P::on(instance.state, value_of<T>(timer.payload));
    });
    if (!known) throw std::invalid_argument("the process has no timer \"" + timer.type + "\" among its Timers");
    return written(std::move(reaction), {ProcessReacted::Cause::timer, GlobalPosition{0}, 0, timer.type});
  }
  // Also of an instance that has ended: what it sent is under way until it is answered. Nobody has taken the process
  // over meanwhile: he may send the command again, and it need not be rejected then.
  static Effect<> on(const State& instance, const ProcessRejection& rejection) {
    Reaction<P> reaction;
    const Rejected why{rejection.command.aggregate, rejection.reason};
    for_each_type(typename SendsOf<P>::type{}, [&]<class C>() {
      if (rejection.command.type == name_of_type<C>())
        reaction = rejected<P>(instance.state, value_of<C>(rejection.command.payload), why);
    });
    auto decided = std::move(reaction).decided(
        {ProcessReacted::Cause::rejection, rejection.reaction, rejection.number, rejection.command.type});
    decided.fail_if(Query{}.types({std::string(process_taken_type)}).tags({rejection.tag}), rejection.taken_at);
    return Persist<NoReply>(std::move(decided), {});
  }

  // Written in any case: so it is not performed again.
  static Effect<> on(const State& instance, const ProcessPerformed& performed) {
    Reaction<P> reaction;
    for_each_type(typename EffectsOf<P>::type{}, [&]<class Of>() {
      if (performed.effect.type != name_of_type<typename Of::Effect>()) return;
      const auto effect = value_of<typename Of::Effect>(performed.effect.payload);
      if (performed.done) {
        if constexpr (HandlesPerformed<P, Of>)
          reaction = P::on_performed(instance.state, effect, value_of<typename Of::Answer>(performed.answer));
      } else {
        if constexpr (HandlesNotPerformed<P, Of>)
          reaction = P::on_not_performed(instance.state, effect, performed.reason);
      }
    });
    ProcessReacted because{performed.done ? ProcessReacted::Cause::performed : ProcessReacted::Cause::not_performed,
                           performed.reaction, performed.number, performed.effect.type};
    because.reason = performed.reason;
    return Persist<NoReply>(std::move(reaction).decided(std::move(because)), {});
  }

  /// A later version of the process asks whether it is to leave the key alone.
  static ProcessKnownAnswer on(const State& instance, const ProcessKnown&) { return {is_known(instance)}; }

  template <class E>
  requires(listed<E, typename P::Events>) static void apply(State& instance, const E& event) {
    P::apply(instance.state, event);
  }
  static void apply(State& instance, const ProcessReacted& reacted) {
    if (reacted.cause == ProcessReacted::Cause::event) instance.reacted_to = reacted.position;
    instance.ended = instance.ended || reacted.ended;
  }

  static std::vector<Tag> tags(const ProcessReacted&) { return {process_tag(P::type)}; }
  template <class E>
  requires requires(const E& event) { P::tags(event); }
  static auto tags(const E& event) { return P::tags(event); }
  template <class E>
  requires requires(const E& event) { P::also(event); }
  static auto also(const E& event) { return P::also(event); }
  static std::string subject(const ProcessReacted& reacted) { return reacted.subject; }
  template <class E>
  requires requires(const E& event) { P::subject(event); }
  static std::string subject(const E& event) { return P::subject(event); }
  static std::string subject(const State& instance) {
    if constexpr (requires { P::subject(instance.state); }) return P::subject(instance.state);
    return {};
  }
  template <class E>
  requires(listed<E, OldEvents>) static auto upcast(const E& event) { return P::upcast(event); }

  /// Which instance an event is for; empty: none. Throws what P's key does, and where the event cannot be decoded.
  static std::string key(const RecordedEvent& event) {
    std::string key;
    for_each_type(typename P::Reacts{}, [&]<class E>() {
      if (event.type != name_of_type<E>()) return;
      const auto value = value_of<E>(event.payload);
      if constexpr (KeyedWithPlace<P, E>)
        key = P::key(value, event);
      else
        key = P::key(value);
    });
    return key;
  }

 private:
  /// Whatever else an instance does follows from an event that it reacted to.
  static bool is_known(const State& instance) { return instance.reacted_to.value != 0; }
  template <class T>
  static T value_of(std::string_view bytes) {
    T value{};
    if (auto parsed = parse_bytes(bytes, value); !parsed) throw std::invalid_argument(parsed.error().what);
    return value;
  }
  static Reaction<P> reaction_to(const typename P::State& state, const RecordedEvent& event) {
    Reaction<P> reaction;
    for_each_type(typename P::Reacts{}, [&]<class E>() {
      if (event.type != name_of_type<E>()) return;
      const auto value = value_of<E>(event.payload);
      if constexpr (ReactsWithPlace<P, E>)
        reaction = P::on(state, value, event);
      else
        reaction = P::on(state, value);
    });
    return reaction;
  }
  /// A process that sends nothing which it looks after has no on_rejected: the name is looked up only where one is.
  template <class Of, class C>
  static Reaction<Of> rejected(const typename Of::State& state, const C& command, const Rejected& why) {
    return Of::on_rejected(state, command, why);
  }
  static Effect<> written(Reaction<P> reaction, ProcessReacted because) {
    if (reaction.empty()) return nothing();
    return Persist<NoReply>(std::move(reaction).decided(std::move(because)), {});
  }
};

}  // namespace evershard
