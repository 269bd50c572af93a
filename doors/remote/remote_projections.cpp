#include "evershard/doors/remote/remote_projections.hpp"

#include <algorithm>
#include <utility>

#include "evershard/api/messages/projection_messages.hpp"
#include "evershard/doors/remote/sendable.hpp"

namespace evershard::remote {
namespace {

using Stub = pb::Projections::Stub;
using Again = Connection::Again;

/// A second call gives the projection that the first has made.
Again again_if(IfThere there) { return there == IfThere::give ? Again::not_served : Again::not_sent; }

/// What changes nothing may be asked again; what does is not, once somebody of the store answered.
template <class Request, class Response>
Result<void> ask_projections(Connection& connection, const Request& request, Response& response,
                             grpc::Status (Stub::*call)(grpc::ClientContext*, const Request&, Response*), Again again,
                             std::optional<std::chrono::milliseconds> timeout = {}) {
  EVERSHARD_TRY(sendable(request));
  const auto asked = [&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
    return (door.projections.get()->*call)(&context, request, &response);
  };
  return connection.ask(timeout.value_or(connection.options().timeout), asked, again,
                        timeout ? Connection::answer_grace : std::chrono::milliseconds(0));
}

template <class Request>
Result<ProjectionInfo> ask_for_info(Connection& connection, const Request& request,
                                    grpc::Status (Stub::*call)(grpc::ClientContext*, const Request&,
                                                               pb::ProjectionInfo*),
                                    Again again) {
  pb::ProjectionInfo response;
  EVERSHARD_TRY(ask_projections(connection, request, response, call, again));
  ProjectionInfo info;
  EVERSHARD_TRY(messages::get(response, info));
  return info;
}

/// The whole call has the time that the rows have, where that is longer.
template <class Request>
void see_own_writes(Connection& connection, const RowsAsked& rows, Request& request) {
  const auto wanted = connection.at_least(rows.at_least);
  if (!wanted) return;
  request.mutable_at_least()->set_position(wanted->value);
  request.mutable_at_least()->set_timeout_ms(
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(rows.timeout.count(), 0, INT32_MAX)));
}

}  // namespace

Result<ProjectionInfo> RemoteProjections::create_index(const Query& query) {
  EVERSHARD_TRY(query.check());
  pb::CreateIndexRequest request;
  messages::put(query, *request.mutable_query());
  return ask_for_info(*connection_, request, &Stub::CreateIndex, Again::not_served);
}

Result<ProjectionInfo> RemoteProjections::create_value_index(const std::string& name, const ValueIndex& index,
                                                             IfThere there) {
  pb::CreateValueIndexRequest request;
  request.set_name(name);
  for (const auto& type : index.types) request.add_types(type);
  request.set_source(index.source);
  request.set_path(index.path);
  request.set_value(index.value);
  request.set_if_absent(there == IfThere::give);
  return ask_for_info(*connection_, request, &Stub::CreateValueIndex, again_if(there));
}

Result<ProjectionInfo> RemoteProjections::create(const std::string& name, const std::string& kind,
                                                 const std::string& spec, IfThere there) {
  pb::CreateProjectionRequest request;
  request.set_name(name);
  request.set_kind(kind);
  request.set_spec(spec);
  request.set_if_absent(there == IfThere::give);
  return ask_for_info(*connection_, request, &Stub::CreateProjection, again_if(there));
}

Result<ProjectionInfo> RemoteProjections::change(const std::string& name, const std::string& spec,
                                                 std::optional<SeqNr> expected) {
  pb::ChangeProjectionRequest request;
  request.set_name(name);
  request.set_spec(spec);
  if (expected) request.set_expected(expected->value);
  return ask_for_info(*connection_, request, &Stub::ChangeProjection, Again::not_sent);
}

Result<void> RemoteProjections::ask(const std::string& name, Ask what) {
  pb::AskProjectionRequest request;
  request.set_name(name);
  messages::put(what, request);
  pb::AskProjectionResponse response;
  return ask_projections(*connection_, request, response, &Stub::AskProjection, Again::not_sent);
}

Result<std::vector<ProjectionInfo>> RemoteProjections::list() {
  pb::ListProjectionsResponse response;
  EVERSHARD_TRY(
      ask_projections(*connection_, pb::ListProjectionsRequest(), response, &Stub::ListProjections, Again::not_served));
  std::vector<ProjectionInfo> all(static_cast<std::size_t>(response.projections_size()));
  for (std::size_t i = 0; i < all.size(); ++i)
    EVERSHARD_TRY(messages::get(*response.mutable_projections(static_cast<int>(i)), all[i]));
  return all;
}

Result<ProjectionInfo> RemoteProjections::describe(const std::string& name) {
  pb::DescribeProjectionRequest request;
  request.set_name(name);
  return ask_for_info(*connection_, request, &Stub::DescribeProjection, Again::not_served);
}

Result<IndexPage> RemoteProjections::read_index(const std::string& name, const IndexRead& read) {
  pb::ReadIndexRequest request;
  messages::put(read, request);
  see_own_writes(*connection_, read.rows, request);
  request.set_name(name);
  pb::IndexPage response;
  EVERSHARD_TRY(ask_projections(*connection_, request, response, &Stub::ReadIndex, Again::not_served,
                                std::max(connection_->options().timeout, read.rows.timeout)));
  IndexPage page;
  EVERSHARD_TRY(messages::get(response, page));
  return page;
}

Result<ValuePage> RemoteProjections::read_values(const std::string& name, const ValueRead& read) {
  pb::ReadValuesRequest request;
  messages::put(read, request);
  see_own_writes(*connection_, read.rows, request);
  request.set_name(name);
  pb::ValuePage response;
  EVERSHARD_TRY(ask_projections(*connection_, request, response, &Stub::ReadValues, Again::not_served,
                                std::max(connection_->options().timeout, read.rows.timeout)));
  ValuePage page;
  EVERSHARD_TRY(messages::get(response, page));
  return page;
}

Result<GlobalPosition> RemoteProjections::wait_until(const std::string& name, GlobalPosition position,
                                                     std::chrono::milliseconds timeout) {
  pb::WaitForProjectionRequest request;
  request.set_name(name);
  request.mutable_at_least()->set_position(position.value);
  request.mutable_at_least()->set_timeout_ms(
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(timeout.count(), 0, INT32_MAX)));
  pb::WaitForProjectionResponse response;
  EVERSHARD_TRY(ask_projections(*connection_, request, response, &Stub::WaitForProjection, Again::not_served,
                                std::min(timeout, Connection::time_max) + connection_->options().timeout));
  return GlobalPosition{response.position()};
}

Result<void> RemoteProjections::vacuum_projections() {
  return refuse(ErrorCode::invalid_argument, "a server's projections are vacuumed with its store");
}

}  // namespace evershard::remote
