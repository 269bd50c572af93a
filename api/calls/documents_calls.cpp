#include "evershard/api/calls/documents_calls.hpp"

#include <algorithm>
#include <limits>

#include "evershard/api/messages/document_messages.hpp"
#include "evershard/api/messages/messages.hpp"
#include "evershard/api/messages/projection_messages.hpp"

namespace evershard::calls {
namespace {

using messages::put;

template <class Request>
std::optional<GlobalPosition> position_of_documents(const Request& request) {
  return request.has_at_least() ? std::optional(GlobalPosition(request.at_least().position())) : std::nullopt;
}

const Row<Documents, pb::DefineDocumentsRequest, pb::DocumentDefinition> define_documents_call(
    {"/evershard.v1.Documents/Define", "DefineDocuments"}, Scope::admin, Again::not_done, {},
    [](Documents& documents, auto& in, auto& out) {
      const auto expected = in.has_expected() ? std::optional(SeqNr(in.expected())) : std::nullopt;
      return told(documents.define(in.type(), in.spec(), expected, in.rebuild()),
                  [&](const DocumentDefinition& defined) { put(defined, out); });
    });
const Row<Documents, pb::DropDocumentsRequest, pb::DropDocumentsResponse> drop_documents_call(
    {"/evershard.v1.Documents/Drop", "DropDocuments"}, Scope::admin, Again::not_done, {},
    [](Documents& documents, auto& in, auto&) { return documents.drop(in.type()); });
const Row<Documents, pb::DocumentDefinitionsRequest, pb::DocumentDefinitionsResponse> document_definitions_call(
    {"/evershard.v1.Documents/Definitions", "DocumentDefinitions"}, Scope::read, Again::read, {},
    [](Documents& documents, auto&, auto& out) {
      return told(documents.definitions(), [&](const auto& all) {
        for (const auto& definition : all) put(definition, *out.add_definitions());
      });
    });
const Row<Documents, pb::DescribeDocumentsRequest, pb::ProjectionInfo> describe_documents_call(
    {"/evershard.v1.Documents/Describe", "DescribeDocuments"}, Scope::read, Again::read, {},
    [](Documents& documents, auto& in, auto& out) {
      return told(documents.describe(in.type()), [&](const ProjectionInfo& info) { put(info, out); });
    });
const Row<Documents, pb::GetDocumentRequest, pb::Document> get_document_call(
    {"/evershard.v1.Documents/Get", "GetDocument"}, Scope::read, Again::read, {},
    [](Documents& documents, auto& in, auto& out, milliseconds wait) {
      const auto how = in.eventual() ? DocumentRead::eventual : DocumentRead::strict;
      return told(documents.get(messages::aggregate_of(in.aggregate()), how, position_of_documents(in), wait),
                  [&](Document&& document) { put(std::move(document), out); });
    });
const Row<Documents, pb::ListDocumentsRequest, pb::ListDocumentsResponse> list_documents_call(
    {"/evershard.v1.Documents/List", "ListDocuments"}, Scope::read, Again::read, {},
    [](Documents& documents, auto& in, auto& out, milliseconds wait) {
      DocumentListing listing{.type = in.type(), .at_least = position_of_documents(in), .timeout = wait};
      if (in.has_after()) listing.after = in.after();
      if (in.limit() != 0) listing.limit = in.limit();
      if (in.has_filter()) listing.filter = in.filter();
      if (in.has_definition()) listing.definition = SeqNr(in.definition());
      return told(documents.list(listing), [&](DocumentPage&& page) {
        for (auto& document : page.documents) put(std::move(document), *out.add_documents());
        if (page.next) out.set_next(*page.next);
        out.set_position(page.position.value);
        out.set_definition(page.definition.value);
      });
    });
const Row<Documents, pb::RemoveDocumentRequest, pb::RemoveDocumentResponse> remove_document_call(
    {"/evershard.v1.Documents/Remove", "RemoveDocument"}, Scope::append, Again::not_done, {},
    [](Documents& documents, auto& in, auto&) { return documents.remove(messages::aggregate_of(in.aggregate())); });

}  // namespace

const Calls<Documents>& documents_calls() {
  static const Calls<Documents> all{&define_documents_call,   &drop_documents_call, &document_definitions_call,
                                    &describe_documents_call, &get_document_call,   &list_documents_call,
                                    &remove_document_call};
  return all;
}

Result<DocumentDefinition> AskedDocuments::define(const std::string& type, const std::string& spec,
                                                  std::optional<SeqNr> expected, bool rebuild) {
  pb::DefineDocumentsRequest request;
  request.set_type(type);
  request.set_spec(spec);
  if (expected) request.set_expected(expected->value);
  request.set_rebuild(rebuild);
  pb::DocumentDefinition response;
  EVERSHARD_TRY(asker_->ask(define_documents_call, request, response));
  return messages::definition_of(response);
}

Result<void> AskedDocuments::drop(const std::string& type) {
  pb::DropDocumentsRequest request;
  request.set_type(type);
  pb::DropDocumentsResponse response;
  return asker_->ask(drop_documents_call, request, response);
}

Result<std::vector<DocumentDefinition>> AskedDocuments::definitions() {
  pb::DocumentDefinitionsRequest request;
  pb::DocumentDefinitionsResponse response;
  EVERSHARD_TRY(asker_->ask(document_definitions_call, request, response));
  std::vector<DocumentDefinition> all;
  for (const auto& definition : response.definitions()) all.push_back(messages::definition_of(definition));
  return all;
}

Result<ProjectionInfo> AskedDocuments::describe(const std::string& type) {
  pb::DescribeDocumentsRequest request;
  request.set_type(type);
  pb::ProjectionInfo response;
  EVERSHARD_TRY(asker_->ask(describe_documents_call, request, response));
  ProjectionInfo info;
  EVERSHARD_TRY(messages::get(response, info));
  return info;
}

Result<Document> AskedDocuments::get(const AggregateId& aggregate, DocumentRead how,
                                     std::optional<GlobalPosition> at_least, milliseconds timeout) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::GetDocumentRequest request;
  put(aggregate, *request.mutable_aggregate());
  request.set_eventual(how == DocumentRead::eventual);
  pb::Document response;
  WaitsFor awaited{.at_least = at_least};
  if (at_least) awaited.timeout = timeout;
  EVERSHARD_TRY(asker_->ask(get_document_call, request, response, awaited));
  return messages::document_of(std::move(response));
}

Result<DocumentPage> AskedDocuments::list(const DocumentListing& listing) {
  if (listing.limit == 0 || listing.limit > std::numeric_limits<std::uint32_t>::max())
    return refuse(ErrorCode::invalid_argument, "limit is " + std::to_string(listing.limit) + ", it is at least 1");
  pb::ListDocumentsRequest request;
  request.set_type(listing.type);
  if (listing.after) request.set_after(*listing.after);
  request.set_limit(static_cast<std::uint32_t>(listing.limit));
  if (listing.filter) request.set_filter(*listing.filter);
  if (listing.definition) request.set_definition(listing.definition->value);
  WaitsFor awaited{.at_least = asker_->at_least(listing.at_least)};
  if (!awaited.at_least && listing.definition) awaited.at_least = GlobalPosition{0};
  if (awaited.at_least) awaited.timeout = listing.timeout;
  pb::ListDocumentsResponse response;
  EVERSHARD_TRY(asker_->ask(list_documents_call, request, response, awaited));
  DocumentPage page;
  for (auto& document : *response.mutable_documents())
    page.documents.push_back(messages::document_of(std::move(document)));
  if (response.has_next()) page.next = response.next();
  page.position = GlobalPosition(response.position());
  page.definition = SeqNr(response.definition());
  return page;
}

Result<void> AskedDocuments::remove(const AggregateId& aggregate) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::RemoveDocumentRequest request;
  put(aggregate, *request.mutable_aggregate());
  pb::RemoveDocumentResponse response;
  return asker_->ask(remove_document_call, request, response);
}

}  // namespace evershard::calls
