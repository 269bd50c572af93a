#include "evershard/doors/remote/remote_documents.hpp"

#include <algorithm>
#include <limits>

#include "evershard/api/messages/document_messages.hpp"
#include "evershard/api/messages/messages.hpp"
#include "evershard/api/messages/projection_messages.hpp"
#include "evershard/doors/remote/sendable.hpp"

namespace evershard::remote {
namespace {

using std::chrono::milliseconds;

std::uint32_t document_wait_ms(milliseconds wait) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(wait.count(), 0, std::numeric_limits<std::uint32_t>::max()));
}

/// Behind what this client has seen, and `at_least`, which is waited for `timeout`.
template <class Request, class Call>
Result<void> ask_for_document(Connection& connection, Request& request, Call call,
                              Connection::Again again = Connection::Again::not_served,
                              std::optional<GlobalPosition> at_least = {}, milliseconds timeout = milliseconds(0)) {
  const auto position = connection.at_least(at_least);
  return connection.ask(
      std::max(connection.options().timeout, timeout),
      [&](Door& door, grpc::ClientContext& context, milliseconds left) {
        if (position) {
          request.mutable_at_least()->set_position(position->value);
          request.mutable_at_least()->set_timeout_ms(
              document_wait_ms(at_least ? timeout : connection.wait_at_one(left)));
        }
        return call(door, context);
      },
      again, position ? Connection::answer_grace : milliseconds(0));
}

}  // namespace

Result<DocumentDefinition> RemoteDocuments::define(const std::string& type, const std::string& spec,
                                                   std::optional<SeqNr> expected, bool rebuild) {
  pb::DefineDocumentsRequest request;
  request.set_type(type);
  request.set_spec(spec);
  if (expected) request.set_expected(expected->value);
  request.set_rebuild(rebuild);
  EVERSHARD_TRY(sendable(request));
  pb::DocumentDefinition response;
  EVERSHARD_TRY(connection_->ask([&](Door& door, grpc::ClientContext& context,
                                     milliseconds) { return door.documents->Define(&context, request, &response); },
                                 Connection::Again::not_sent));
  return messages::definition_of(response);
}

Result<void> RemoteDocuments::drop(const std::string& type) {
  pb::DropDocumentsRequest request;
  request.set_type(type);
  EVERSHARD_TRY(sendable(request));
  pb::DropDocumentsResponse response;
  return connection_->ask([&](Door& door, grpc::ClientContext& context,
                              milliseconds) { return door.documents->Drop(&context, request, &response); },
                          Connection::Again::not_sent);
}

Result<std::vector<DocumentDefinition>> RemoteDocuments::definitions() {
  pb::DocumentDefinitionsRequest request;
  pb::DocumentDefinitionsResponse response;
  EVERSHARD_TRY(ask_for_document(*connection_, request, [&](Door& door, grpc::ClientContext& context) {
    return door.documents->Definitions(&context, request, &response);
  }));
  std::vector<DocumentDefinition> all;
  for (const auto& definition : response.definitions()) all.push_back(messages::definition_of(definition));
  return all;
}

Result<ProjectionInfo> RemoteDocuments::describe(const std::string& type) {
  pb::DescribeDocumentsRequest request;
  request.set_type(type);
  EVERSHARD_TRY(sendable(request));
  pb::ProjectionInfo response;
  EVERSHARD_TRY(ask_for_document(*connection_, request, [&](Door& door, grpc::ClientContext& context) {
    return door.documents->Describe(&context, request, &response);
  }));
  ProjectionInfo info;
  EVERSHARD_TRY(messages::get(response, info));
  return info;
}

Result<Document> RemoteDocuments::get(const AggregateId& aggregate, DocumentRead how,
                                      std::optional<GlobalPosition> at_least, milliseconds timeout) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::GetDocumentRequest request;
  messages::put(aggregate, *request.mutable_aggregate());
  request.set_eventual(how == DocumentRead::eventual);
  pb::Document response;
  EVERSHARD_TRY(ask_for_document(
      *connection_, request,
      [&](Door& door, grpc::ClientContext& context) { return door.documents->Get(&context, request, &response); },
      Connection::Again::not_served, at_least, at_least ? timeout : milliseconds(0)));
  return messages::document_of(std::move(response));
}

Result<DocumentPage> RemoteDocuments::list(const DocumentListing& listing) {
  pb::ListDocumentsRequest request;
  request.set_type(listing.type);
  if (listing.after) request.set_after(*listing.after);
  if (listing.limit == 0 || listing.limit > std::numeric_limits<std::uint32_t>::max())
    return refuse(ErrorCode::invalid_argument, "limit is " + std::to_string(listing.limit) + ", it is at least 1");
  request.set_limit(static_cast<std::uint32_t>(listing.limit));
  if (listing.filter) request.set_filter(*listing.filter);
  if (listing.definition) request.set_definition(listing.definition->value);
  const auto at_least = connection_->at_least(listing.at_least);
  const bool waits = at_least || listing.definition;
  if (waits) {
    request.mutable_at_least()->set_position(at_least.value_or(GlobalPosition{0}).value);
    request.mutable_at_least()->set_timeout_ms(document_wait_ms(listing.timeout));
  }
  EVERSHARD_TRY(sendable(request));
  pb::ListDocumentsResponse response;
  const auto timeout = std::max(connection_->options().timeout, waits ? listing.timeout : milliseconds(0));
  EVERSHARD_TRY(connection_->ask(
      timeout,
      [&](Door& door, grpc::ClientContext& context, milliseconds) {
        return door.documents->List(&context, request, &response);
      },
      Connection::Again::not_served, Connection::answer_grace));
  DocumentPage page;
  for (auto& document : *response.mutable_documents())
    page.documents.push_back(messages::document_of(std::move(document)));
  if (response.has_next()) page.next = response.next();
  page.position = GlobalPosition(response.position());
  page.definition = SeqNr(response.definition());
  return page;
}

Result<void> RemoteDocuments::remove(const AggregateId& aggregate) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  pb::RemoveDocumentRequest request;
  messages::put(aggregate, *request.mutable_aggregate());
  pb::RemoveDocumentResponse response;
  return ask_for_document(
      *connection_, request,
      [&](Door& door, grpc::ClientContext& context) { return door.documents->Remove(&context, request, &response); },
      Connection::Again::not_sent);
}

}  // namespace evershard::remote
