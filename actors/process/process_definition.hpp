// ProcessDefinition: a process as the runtime sees it: names and bytes; the user's types are behind it.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "evershard/actors/model/handler_error.hpp"
#include "evershard/actors/model/kind.hpp"
#include "evershard/actors/process/process_aggregate.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// Immutable, used from any thread.
struct ProcessDefinition {
  std::string type;                     ///< of the aggregates that its instances are
  Query query;                          ///< the events that it may react to
  std::set<std::string> reacts;         ///< their types
  std::set<std::string> rejections;     ///< types of commands whose rejections it reacts to
  std::map<std::string, bool> effects;  ///< types of its effects, and whether it wants to hear that one is done
  /// Which instance an event is for; empty: none. Errors: invalid_argument
  std::function<Result<std::string>(const RecordedEvent&)> key;
  std::shared_ptr<const AggregateKind> kind;  ///< of its instances
};

/// `static Query query()` of the process, or else all events of the types of Reacts.
///
/// Errors: invalid_argument, too_large: a logical name, the query
template <class P>
[[nodiscard]] Result<std::shared_ptr<const ProcessDefinition>> make_process() {
  if constexpr (ProcessRules<P>::value) {
    auto kind = make_kind<ProcessAggregate<P>>();
    if (!kind) return Refused(std::move(kind).error());
    auto definition = std::make_shared<ProcessDefinition>();
    definition->type = std::string(std::string_view(P::type));
    for_each_type(typename P::Reacts{}, [&]<class E>() { definition->reacts.insert(name_of_type<E>()); });
    for_each_type(typename SendsOf<P>::type{}, [&]<class C>() { definition->rejections.insert(name_of_type<C>()); });
    for_each_type(typename EffectsOf<P>::type{}, [&]<class Of>() {
      definition->effects[name_of_type<typename Of::Effect>()] = HandlesPerformed<P, Of>;
    });
    if constexpr (requires { P::query(); }) {
      definition->query = P::query();
    } else {
      definition->query = Query{}.types({definition->reacts.begin(), definition->reacts.end()});
    }
    EVERSHARD_TRY(definition->query.check());
    definition->key = [](const RecordedEvent& event) -> Result<std::string> {
      try {
        return ProcessAggregate<P>::key(event);
      } catch (...) {
        return refuse(thrown(ErrorCode::invalid_argument,
                             "key of the event at position " + std::to_string(event.position.value)));
      }
    };
    definition->kind = std::move(*kind);
    return std::shared_ptr<const ProcessDefinition>(std::move(definition));
  }
  return refuse(ErrorCode::invalid_argument, "not a process");
}

}  // namespace evershard
