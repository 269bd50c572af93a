#include "evershard/doors/grpc/projections_service.hpp"

#include <utility>

#include "evershard/api/messages/projection_messages.hpp"

namespace evershard::door {
namespace {

using std::chrono::milliseconds;

Result<void> tell(const Result<ProjectionInfo>& info, pb::ProjectionInfo& response) {
  if (!info) return refuse(info.error());
  messages::put(*info, response);
  return {};
}

}  // namespace

ProjectionsService::ProjectionsService(Calls& calls) : ServiceOf(calls) {
  answers<pb::CreateIndexRequest, pb::ProjectionInfo>(
      "CreateIndex", Scope::admin,
      [this](pb::CreateIndexRequest& request, pb::ProjectionInfo& response) -> Result<void> {
        Query query;
        EVERSHARD_TRY(messages::get(*request.mutable_query(), query));
        return tell(calls_.served.projections().create_index(query), response);
      });
  answers<pb::CreateValueIndexRequest, pb::ProjectionInfo>(
      "CreateValueIndex", Scope::admin,
      [this](pb::CreateValueIndexRequest& request, pb::ProjectionInfo& response) -> Result<void> {
        ValueIndex index{{request.types().begin(), request.types().end()}, "payload", request.path(), "text"};
        if (!request.source().empty()) index.source = request.source();
        if (!request.value().empty()) index.value = request.value();
        return tell(calls_.served.projections().create_value_index(
                        request.name(), index, request.if_absent() ? IfThere::give : IfThere::refuse),
                    response);
      });
  answers<pb::CreateProjectionRequest, pb::ProjectionInfo>(
      "CreateProjection", Scope::admin,
      [this](pb::CreateProjectionRequest& request, pb::ProjectionInfo& response) -> Result<void> {
        return tell(calls_.served.projections().create(request.name(), request.kind(), request.spec(),
                                                       request.if_absent() ? IfThere::give : IfThere::refuse),
                    response);
      });
  answers<pb::ChangeProjectionRequest, pb::ProjectionInfo>(
      "ChangeProjection", Scope::admin,
      [this](pb::ChangeProjectionRequest& request, pb::ProjectionInfo& response) -> Result<void> {
        const auto expected = request.has_expected() ? std::optional(SeqNr{request.expected()}) : std::nullopt;
        return tell(calls_.served.projections().change(request.name(), request.spec(), expected), response);
      });
  answers<pb::AskProjectionRequest, pb::AskProjectionResponse>(
      "AskProjection", Scope::admin,
      [this](pb::AskProjectionRequest& request, pb::AskProjectionResponse&) -> Result<void> {
        Projections::Ask ask{};
        EVERSHARD_TRY(messages::get(request, ask));
        return calls_.served.projections().ask(request.name(), ask);
      });
  answers<pb::ListProjectionsRequest, pb::ListProjectionsResponse>(
      "ListProjections", Scope::read,
      [this](pb::ListProjectionsRequest&, pb::ListProjectionsResponse& response) -> Result<void> {
        const auto all = calls_.served.projections().list();
        if (!all) return refuse(all.error());
        for (const auto& info : *all) messages::put(info, *response.add_projections());
        return {};
      });
  answers<pb::DescribeProjectionRequest, pb::ProjectionInfo>(
      "DescribeProjection", Scope::read,
      [this](pb::DescribeProjectionRequest& request, pb::ProjectionInfo& response) -> Result<void> {
        return tell(calls_.served.projections().describe(request.name()), response);
      });
  answers<pb::ReadIndexRequest, pb::IndexPage>(
      "ReadIndex", Scope::read,
      [this](pb::ReadIndexRequest& request, pb::IndexPage& response, milliseconds wait) -> Result<void> {
        IndexRead read;
        EVERSHARD_TRY(messages::get(request, read));
        read.rows.timeout = wait;
        const auto page = calls_.served.projections().read_index(request.name(), read);
        if (!page) return refuse(page.error());
        messages::put(*page, response);
        return {};
      });
  answers<pb::ReadValuesRequest, pb::ValuePage>(
      "ReadValues", Scope::read,
      [this](pb::ReadValuesRequest& request, pb::ValuePage& response, milliseconds wait) -> Result<void> {
        if (!request
                 .has_at_least()) {  // the head when the read began: else each look would wait for what came meanwhile
          const auto head = calls_.served.store.head();
          if (!head) return refuse(head.error());
          request.mutable_at_least()->set_position(head->value);
        }
        ValueRead read;
        EVERSHARD_TRY(messages::get(request, read));
        read.rows.timeout = wait;
        const auto page = calls_.served.projections().read_values(request.name(), read);
        if (!page) return refuse(page.error());
        messages::put(*page, response);
        return {};
      });
  answers<pb::WaitForProjectionRequest, pb::WaitForProjectionResponse>(
      "WaitForProjection", Scope::read,
      [this](pb::WaitForProjectionRequest& request, pb::WaitForProjectionResponse& response,
             milliseconds wait) -> Result<void> {
        if (!request.has_at_least()) return refuse(ErrorCode::invalid_argument, "at_least: is missing");
        const auto reached =
            calls_.served.projections().wait_until(request.name(), GlobalPosition{request.at_least().position()}, wait);
        if (!reached) return refuse(reached.error());
        response.set_position(reached->value);
        return {};
      });
}

}  // namespace evershard::door
