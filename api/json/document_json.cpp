#include "evershard/api/json/document_json.hpp"

namespace evershard {

void write_document(JsonText& json, const Document& document) {
  json.begin_object()
      .key("aggregate")
      .string(document.aggregate.text())
      .key("version")
      .number(document.version.value)
      .key("position")
      .number(document.position.value)
      .key("definition")
      .number(document.definition.value);
  if (document.problems != 0)
    json.key("problems").number(document.problems).key("last_problem").string(document.last_problem);
  json.key("document").raw(document.json).end_object();
}

void write_document_definition(JsonText& json, const DocumentDefinition& definition) {
  json.begin_object()
      .key("type")
      .string(definition.type)
      .key("version")
      .number(definition.version.value)
      .key("since")
      .number(definition.since.value);
  json.key("definition").raw(definition.spec).end_object();
}

}  // namespace evershard
