#include "evershard/api/messages/document_messages.hpp"

#include <utility>

#include "evershard/api/messages/messages.hpp"

namespace evershard::messages {

void put(const DocumentDefinition& from, pb::DocumentDefinition& to) {
  to.set_type(from.type);
  to.set_spec(from.spec);
  to.set_version(from.version.value);
  to.set_since(from.since.value);
}

void put(Document&& from, pb::Document& to) {
  put(from.aggregate, *to.mutable_aggregate());
  to.set_json(std::move(from.json));
  to.set_version(from.version.value);
  to.set_position(from.position.value);
  to.set_problems(from.problems);
  to.set_last_problem(std::move(from.last_problem));
  to.set_definition(from.definition.value);
}

DocumentDefinition definition_of(const pb::DocumentDefinition& from) {
  return {from.type(), from.spec(), SeqNr(from.version()), GlobalPosition(from.since())};
}

Document document_of(pb::Document&& from) {
  return {aggregate_of(from.aggregate()),
          std::move(*from.mutable_json()),
          SeqNr(from.version()),
          GlobalPosition(from.position()),
          from.problems(),
          std::move(*from.mutable_last_problem()),
          SeqNr(from.definition())};
}

}  // namespace evershard::messages
