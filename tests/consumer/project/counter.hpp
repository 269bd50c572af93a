// An aggregate of somebody else's.

#pragma once

#include <evershard/aggregate.hpp>

#include "consumer/counter.pb.h"

struct Counter {
  static constexpr std::string_view type = "counter";
  using State = consumer::Count;
  using Commands = evershard::Types<consumer::Add, consumer::Get>;
  using Events = evershard::Types<consumer::Added>;

  static evershard::Effect<consumer::Count> on(const State&, const consumer::Add& command) {
    if (command.value() <= 0) return evershard::reject("a counter only grows");
    consumer::Added added;
    added.set_value(command.value());
    return evershard::persist(added).reply([](const State& state) { return state; });
  }
  static consumer::Count on(const State& state, const consumer::Get&) { return state; }
  static void apply(State& state, const consumer::Added& event) { state.set_value(state.value() + event.value()); }
};
