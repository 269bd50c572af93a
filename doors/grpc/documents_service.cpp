#include "evershard/doors/grpc/documents_service.hpp"

#include "evershard/api/messages/document_messages.hpp"
#include "evershard/api/messages/messages.hpp"
#include "evershard/api/messages/projection_messages.hpp"

namespace evershard::door {

Result<Documents*> DocumentsService::documents() const {
  if (calls_.served.documents == nullptr) return refuse(ErrorCode::unavailable, "this server keeps no documents");
  return calls_.served.documents;
}

DocumentsService::DocumentsService(Calls& calls) : ServiceOf(calls) {
  answers<pb::DefineDocumentsRequest, pb::DocumentDefinition>(
      {"Define", "DefineDocuments"}, Scope::admin,
      [this](pb::DefineDocumentsRequest& request, pb::DocumentDefinition& response) -> Result<void> {
        const auto kept = documents();
        if (!kept) return refuse(kept.error());
        std::optional<SeqNr> expected;
        if (request.has_expected()) expected = SeqNr(request.expected());
        const auto defined = (*kept)->define(request.type(), request.spec(), expected, request.rebuild());
        if (!defined) return refuse(defined.error());
        messages::put(*defined, response);
        return {};
      });
  answers<pb::DropDocumentsRequest, pb::DropDocumentsResponse>(
      {"Drop", "DropDocuments"}, Scope::admin,
      [this](pb::DropDocumentsRequest& request, pb::DropDocumentsResponse&) -> Result<void> {
        const auto kept = documents();
        return kept ? (*kept)->drop(request.type()) : Result<void>(refuse(kept.error()));
      });
  answers<pb::DocumentDefinitionsRequest, pb::DocumentDefinitionsResponse>(
      {"Definitions", "DocumentDefinitions"}, Scope::read,
      [this](pb::DocumentDefinitionsRequest&, pb::DocumentDefinitionsResponse& response) -> Result<void> {
        const auto kept = documents();
        if (!kept) return refuse(kept.error());
        const auto all = (*kept)->definitions();
        if (!all) return refuse(all.error());
        for (const auto& definition : *all) messages::put(definition, *response.add_definitions());
        return {};
      });
  answers<pb::DescribeDocumentsRequest, pb::ProjectionInfo>(
      {"Describe", "DescribeDocuments"}, Scope::read,
      [this](pb::DescribeDocumentsRequest& request, pb::ProjectionInfo& response) -> Result<void> {
        const auto kept = documents();
        if (!kept) return refuse(kept.error());
        const auto info = (*kept)->describe(request.type());
        if (!info) return refuse(info.error());
        messages::put(*info, response);
        return {};
      });
  answers<pb::GetDocumentRequest, pb::Document>(
      {"Get", "GetDocument"}, Scope::read,
      [this](pb::GetDocumentRequest& request, pb::Document& response, std::chrono::milliseconds wait) -> Result<void> {
        const auto kept = documents();
        if (!kept) return refuse(kept.error());
        std::optional<GlobalPosition> at_least;
        if (request.has_at_least()) at_least = GlobalPosition(request.at_least().position());
        auto document =
            (*kept)->get(messages::aggregate_of(request.aggregate()),
                         request.eventual() ? DocumentRead::eventual : DocumentRead::strict, at_least, wait);
        if (!document) return refuse(std::move(document).error());
        messages::put(*std::move(document), response);
        return {};
      });
  answers<pb::ListDocumentsRequest, pb::ListDocumentsResponse>(
      {"List", "ListDocuments"}, Scope::read,
      [this](pb::ListDocumentsRequest& request, pb::ListDocumentsResponse& response,
             std::chrono::milliseconds wait) -> Result<void> {
        const auto kept = documents();
        if (!kept) return refuse(kept.error());
        DocumentListing listing{.type = request.type(), .timeout = wait};
        if (request.has_after()) listing.after = request.after();
        if (request.limit() != 0) listing.limit = request.limit();
        if (request.has_filter()) listing.filter = request.filter();
        if (request.has_at_least()) listing.at_least = GlobalPosition(request.at_least().position());
        if (request.has_definition()) listing.definition = SeqNr(request.definition());
        auto page = (*kept)->list(listing);
        if (!page) return refuse(std::move(page).error());
        for (auto& document : page->documents) messages::put(std::move(document), *response.add_documents());
        if (page->next) response.set_next(*page->next);
        response.set_position(page->position.value);
        response.set_definition(page->definition.value);
        return {};
      });
  answers<pb::RemoveDocumentRequest, pb::RemoveDocumentResponse>(
      {"Remove", "RemoveDocument"}, Scope::append,
      [this](pb::RemoveDocumentRequest& request, pb::RemoveDocumentResponse&) -> Result<void> {
        const auto kept = documents();
        return kept ? (*kept)->remove(messages::aggregate_of(request.aggregate())) : Result<void>(refuse(kept.error()));
      });
}

}  // namespace evershard::door
