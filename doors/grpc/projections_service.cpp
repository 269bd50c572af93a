#include "evershard/doors/grpc/projections_service.hpp"

#include <utility>

#include "evershard/store/messages/projection_messages.hpp"

namespace evershard::door {
namespace {

using serving::Scope;
using std::chrono::milliseconds;

Result<void> tell(const Result<ProjectionInfo>& info, pb::ProjectionInfo& response) {
  if (!info) return refuse(info.error());
  messages::put(*info, response);
  return {};
}

}  // namespace

grpc::ServerUnaryReactor* ProjectionsService::CreateIndex(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::CreateIndexRequest, pb::ProjectionInfo>(
      calls_, Method::create_index, context, in, out, Scope::admin,
      [this](pb::CreateIndexRequest& request, pb::ProjectionInfo& response) -> Result<void> {
        Query query;
        EVERSHARD_TRY(messages::get(*request.mutable_query(), query));
        return tell(calls_.served.projections().create_index(query), response);
      });
}

grpc::ServerUnaryReactor* ProjectionsService::CreateValueIndex(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::CreateValueIndexRequest, pb::ProjectionInfo>(
      calls_, Method::create_value_index, context, in, out, Scope::admin,
      [this](pb::CreateValueIndexRequest& request, pb::ProjectionInfo& response) -> Result<void> {
        ValueIndex index{{request.types().begin(), request.types().end()}, "payload", request.path(), "text"};
        if (!request.source().empty()) index.source = request.source();
        if (!request.value().empty()) index.value = request.value();
        return tell(calls_.served.projections().create_value_index(request.name(), index), response);
      });
}

grpc::ServerUnaryReactor* ProjectionsService::CreateProjection(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::CreateProjectionRequest, pb::ProjectionInfo>(
      calls_, Method::create_projection, context, in, out, Scope::admin,
      [this](pb::CreateProjectionRequest& request, pb::ProjectionInfo& response) -> Result<void> {
        return tell(calls_.served.projections().create(request.name(), request.kind(), request.spec()), response);
      });
}

grpc::ServerUnaryReactor* ProjectionsService::ChangeProjection(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::ChangeProjectionRequest, pb::ProjectionInfo>(
      calls_, Method::change_projection, context, in, out, Scope::admin,
      [this](pb::ChangeProjectionRequest& request, pb::ProjectionInfo& response) -> Result<void> {
        const auto expected = request.has_expected() ? std::optional(SeqNr{request.expected()}) : std::nullopt;
        return tell(calls_.served.projections().change(request.name(), request.spec(), expected), response);
      });
}

grpc::ServerUnaryReactor* ProjectionsService::AskProjection(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::AskProjectionRequest, pb::AskProjectionResponse>(
      calls_, Method::ask_projection, context, in, out, Scope::admin,
      [this](pb::AskProjectionRequest& request, pb::AskProjectionResponse&) -> Result<void> {
        Projections::Ask ask{};
        EVERSHARD_TRY(messages::get(request, ask));
        return calls_.served.projections().ask(request.name(), ask);
      });
}

grpc::ServerUnaryReactor* ProjectionsService::ListProjections(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::ListProjectionsRequest, pb::ListProjectionsResponse>(
      calls_, Method::list_projections, context, in, out, Scope::read,
      [this](pb::ListProjectionsRequest&, pb::ListProjectionsResponse& response) -> Result<void> {
        const auto all = calls_.served.projections().list();
        if (!all) return refuse(all.error());
        for (const auto& info : *all) messages::put(info, *response.add_projections());
        return {};
      });
}

grpc::ServerUnaryReactor* ProjectionsService::DescribeProjection(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::DescribeProjectionRequest, pb::ProjectionInfo>(
      calls_, Method::describe_projection, context, in, out, Scope::read,
      [this](pb::DescribeProjectionRequest& request, pb::ProjectionInfo& response) -> Result<void> {
        return tell(calls_.served.projections().describe(request.name()), response);
      });
}

grpc::ServerUnaryReactor* ProjectionsService::ReadIndex(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::ReadIndexRequest, pb::IndexPage>(
      calls_, Method::read_index, context, in, out, Scope::read,
      [this](pb::ReadIndexRequest& request, pb::IndexPage& response, milliseconds wait) -> Result<void> {
        IndexRead read;
        EVERSHARD_TRY(messages::get(request, read));
        read.rows.timeout = wait;
        const auto page = calls_.served.projections().read_index(request.name(), read);
        if (!page) return refuse(page.error());
        messages::put(*page, response);
        return {};
      });
}

grpc::ServerUnaryReactor* ProjectionsService::ReadValues(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::ReadValuesRequest, pb::ValuePage>(
      calls_, Method::read_values, context, in, out, Scope::read,
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
}

grpc::ServerUnaryReactor* ProjectionsService::WaitForProjection(Context* context, const Bytes* in, Bytes* out) {
  return answer_from_pool<pb::WaitForProjectionRequest, pb::WaitForProjectionResponse>(
      calls_, Method::wait_for_projection, context, in, out, Scope::read,
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
