// The command line with an application's own aggregates in it, as a program of its own:
//
//     #include <evershard/command_line.hpp>
//     int main(int argc, char** argv) { return evershard::command_line<BankAccount, Order>(argc, argv); }
//
// It is `evershard` with every command. `aggregate state` gives the exact state of any version, since the program's own
// `apply` and `upcast` make it, and payloads are read by the program's own types; nothing needs to be registered.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "evershard/actors/model/typed_kind.hpp"

namespace evershard {

/// What the command line knows of a kind of aggregate: how its states are made, and which of its types are Protobuf
/// messages.
struct CommandLineKind {
  Result<std::shared_ptr<const AggregateKind>> kind;
  std::vector<std::pair<std::string, const google::protobuf::MessageLite*>>
      events{};                                          ///< by logical name, old ones too
  const google::protobuf::MessageLite* state = nullptr;  ///< null: a type with a codec of its own
};

template <class A>
[[nodiscard]] CommandLineKind command_line_kind() {
  CommandLineKind known{make_kind<A>()};
  const auto add = [&]<class E>() {
    if constexpr (ProtobufMessage<E>) known.events.emplace_back(name_of_type<E>(), &E::default_instance());
  };
  for_each_type(typename A::Events{}, add);
  for_each_type(typename OldEventsOf<A>::type{}, add);
  if constexpr (ProtobufMessage<typename A::State>) known.state = &A::State::default_instance();
  return known;
}

/// Writes to standard output and standard error. Returns: the exit status, as docs/command-line.md lists them; 5 for
/// aggregates that no store would host.
[[nodiscard]] int run_command_line(int argc, char** argv, const std::vector<CommandLineKind>& kinds);

/// Of any number of kinds; of none it is `evershard` itself.
template <class... Aggregates>
[[nodiscard]] int command_line(int argc, char** argv) {
  return run_command_line(argc, argv, {command_line_kind<Aggregates>()...});
}

}  // namespace evershard
