// GET /api/v1/documents, /api/v1/documents?type=, /api/v1/documents/{type}, /api/v1/documents/{id}.

#include <utility>

#include "evershard/api/json/document_json.hpp"
#include "evershard/api/json/projection_json.hpp"
#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/read_asked.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::http {
namespace {

Refused no_documents() { return refuse(ErrorCode::unavailable, "this server keeps no documents"); }

Result<Response> one_document(Documents& documents, const Asked& asked, std::chrono::milliseconds timeout) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"read", "at_least"}));
  const auto read = parameters.text("read");
  if (!read) return refuse(read.error());
  const auto how = read->value_or("strict");
  if (how != "strict" && how != "eventual")
    return refuse(ErrorCode::invalid_argument, "read: " + in_quotes(how) + " is neither strict nor eventual");
  const auto id = AggregateId::parse(asked.argument);
  if (!id) return refuse(id.error());
  const auto at_least = parameters.position("at_least");
  if (!at_least) return refuse(at_least.error());
  const auto document =
      documents.get(*id, how == "strict" ? DocumentRead::strict : DocumentRead::eventual, *at_least, timeout);
  if (!document) return refuse(document.error());
  JsonText json;
  write_document(json, *document);
  return json_response(json.take());
}

Result<Response> listed_documents(Documents& documents, const Asked& asked, std::chrono::milliseconds timeout) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"after", "filter", "limit", "at_least", "definition"}));
  DocumentListing listing{.type = asked.argument, .timeout = timeout};
  auto after = parameters.text("after");
  if (!after) return refuse(std::move(after).error());
  listing.after = *std::move(after);
  auto filter = parameters.text("filter");
  if (!filter) return refuse(std::move(filter).error());
  listing.filter = *std::move(filter);
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());
  listing.limit = *limit;
  const auto at_least = parameters.position("at_least");
  if (!at_least) return refuse(at_least.error());
  listing.at_least = *at_least;
  const auto definition = parameters.number("definition");
  if (!definition) return refuse(definition.error());
  if (*definition) listing.definition = SeqNr(**definition);
  const auto page = documents.list(listing);
  if (!page) return refuse(page.error());
  JsonText json;
  json.begin_object().key("documents").begin_array();
  for (const auto& document : page->documents) write_document(json, document);
  json.end_array().key("next");
  if (page->next)
    json.string(*page->next);
  else
    json.raw("null");
  json.key("position").number(page->position.value).key("definition").number(page->definition.value).end_object();
  return json_response(json.take());
}

Result<Response> described_documents(Documents& documents, const std::string& type) {
  const auto info = documents.describe(type);
  if (!info) return refuse(info.error());
  JsonText json;
  write_projection(json, *info);
  return json_response(json.take());
}

Result<Response> answer_documents(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({"type"}));
  if (api.served.documents == nullptr) return no_documents();
  const auto type = asked.target.parameters.text("type");
  if (!type) return refuse(type.error());
  if (*type) return described_documents(*api.served.documents, **type);
  const auto all = api.served.documents->definitions();
  if (!all) return refuse(all.error());
  JsonText json;
  json.begin_object().key("definitions").begin_array();
  for (const auto& definition : *all) write_document_definition(json, definition);
  json.end_array().end_object();
  return json_response(json.take());
}

/// A type has no '-', an aggregate's id has one.
Result<Response> read_documents(Api& api, const Asked& asked, std::chrono::milliseconds wait) {
  if (api.served.documents == nullptr) return no_documents();
  return asked.argument.find('-') == std::string::npos ? listed_documents(*api.served.documents, asked, wait)
                                                       : one_document(*api.served.documents, asked, wait);
}

}  // namespace

std::span<const Route> document_routes() {
  using enum serving::Scope;
  static constexpr Route rows[] = {
      {"GET", "/api/v1/documents", read, answer_documents},
      {"GET", "/api/v1/documents/{id}", read, Rows{read_documents}},
  };
  return rows;
}

}  // namespace evershard::http
