// AggregateRef<A>: one aggregate, to be asked: blocking, with a future, or with a completion.

#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/actors/model/codec.hpp"
#include "evershard/actors/model/handlers.hpp"
#include "evershard/actors/model/typed_answer.hpp"

namespace evershard {

/// A state in the user's type, and where it stands.
template <class State>
struct StateAt {
  State state{};
  SeqNr version;            ///< 0: the aggregate has no events
  GlobalPosition position;  ///< of its last event
};

/// Any thread. Shape: the door outlives it.
template <class A>
class AggregateRef {
 public:
  using State = typename A::State;
  template <class C>
  using Reply = ReplyOf<A, C>;

  AggregateRef(AggregateDoor& door, AggregateId id) : door_(&door), id_(std::move(id)) {}
  [[nodiscard]] const AggregateId& id() const { return id_; }

  /// Blocks until it is answered: at the latest a moment after its deadline. Not from a completion, nor from a handler.
  template <class C>
  [[nodiscard]] Answer<Reply<C>> ask(const C& command, AskOptions options = {}) const {
    static_assert(takes<C>(typename A::Commands{}),
                  "evershard: this aggregate takes no such command: it is not among its Commands");
    auto bytes = to_bytes(command);
    if (!bytes) return Answer<Reply<C>>(AnyAnswer::failed(std::move(bytes).error()));
    return Answer<Reply<C>>(door_->ask_and_wait(id_, name_of_type<C>(), std::move(*bytes), std::move(options)));
  }

  template <class C>
  [[nodiscard]] std::future<Answer<Reply<C>>> ask_future(const C& command, AskOptions options = {}) const {
    auto promise = std::make_shared<std::promise<Answer<Reply<C>>>>();
    auto future = promise->get_future();
    ask_async(
        command, [promise](Answer<Reply<C>> answer) { promise->set_value(std::move(answer)); }, std::move(options));
    return future;
  }

  /// `done(Answer<Reply>)` is called once, from a thread of the runtime or from within this call: it must not block and
  /// must not throw.
  template <class C, class Done>
  Asking ask_async(const C& command, Done done, AskOptions options = {}) const {
    static_assert(takes<C>(typename A::Commands{}),
                  "evershard: this aggregate takes no such command: it is not among its Commands");
    auto bytes = to_bytes(command);
    if (!bytes) {
      done(Answer<Reply<C>>(AnyAnswer::failed(std::move(bytes).error())));
      return {};
    }
    return door_->ask_bytes(
        id_, name_of_type<C>(), std::move(*bytes), std::move(options),
        [done = std::move(done)](AnyAnswer answer) mutable { done(Answer<Reply<C>>(std::move(answer))); });
  }

  /// Errors: those of AggregateDoor::state_bytes; corruption: the bytes are no state
  [[nodiscard]] Result<StateAt<State>> state(StateRead how = StateRead::strict,
                                             std::chrono::milliseconds timeout = std::chrono::seconds(10)) const {
    return decoded(door_->state_bytes(id_, how, timeout));
  }
  /// The state as it was at a global position.
  [[nodiscard]] Result<StateAt<State>> state_at(GlobalPosition position) const {
    return decoded(door_->state_bytes_at(id_, position));
  }

  [[nodiscard]] Result<void> snapshot(std::chrono::milliseconds timeout = std::chrono::seconds(10)) const {
    return door_->take_snapshot(id_, timeout);
  }
  void passivate() const { door_->passivate(id_); }

 private:
  template <class C, class... Cs>
  static constexpr bool takes(Types<Cs...>) {
    return (std::is_same_v<C, Cs> || ...);
  }
  static Result<StateAt<State>> decoded(Result<StateBytes> bytes) {
    if (!bytes) return Refused(std::move(bytes).error());
    StateAt<State> at;
    at.version = bytes->version;
    at.position = bytes->position;
    if (bytes->version == SeqNr{0} && bytes->payload.empty()) return at;
    auto state = from_bytes<State>(bytes->payload);
    if (!state) return Refused(std::move(state).error());
    at.state = std::move(*state);
    return at;
  }

  AggregateDoor* door_;
  AggregateId id_;
};

}  // namespace evershard
