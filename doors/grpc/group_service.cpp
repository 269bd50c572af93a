#include "evershard/doors/grpc/group_service.hpp"

#include <algorithm>

#include "evershard/api/messages/group_messages.hpp"
#include "evershard/doors/grpc/group_work_call.hpp"

namespace evershard::door {
namespace {

constexpr std::uint32_t parked_default = 100, parked_most = 1'000;

/// Errors: invalid_argument: both were said
template <class Request>
Result<std::optional<GlobalPosition>> start_of(const Request& request) {
  if (request.from_now() && request.has_after()) return refuse(ErrorCode::invalid_argument, "either after or from_now");
  if (request.from_now()) return std::optional<GlobalPosition>();
  return std::optional(GlobalPosition(request.after()));
}

template <class Request>
std::optional<GlobalPosition> position_asked(const Request& request) {
  if (!request.has_position()) return std::nullopt;
  return GlobalPosition(request.position());
}

Result<void> put_group(const Result<GroupInfo>& info, pb::GroupInfo& response) {
  if (!info) return refuse(info.error());
  messages::put(*info, response);
  return {};
}

}  // namespace

Result<Groups*> groups_of(const Calls& calls) {
  if (calls.served.groups == nullptr) return refuse(ErrorCode::unavailable, "this server offers no consumer groups");
  return calls.served.groups;
}

template <class Request, class Response, class Answer>
void GroupService::asks(CallName name, Scope scope, Answer answer) {
  answers<Request, Response>(name, scope,
                             [this, answer = std::move(answer)](auto& request, auto& response) -> Result<void> {
                               const auto groups = groups_of(calls_);
                               if (!groups) return refuse(groups.error());
                               return answer(**groups, request, response);
                             });
}

GroupService::GroupService(Calls& calls) : ServiceOf(calls) {
  asks<pb::CreateGroupRequest, pb::GroupInfo>(
      "CreateGroup", Scope::admin,
      [](Groups& groups, pb::CreateGroupRequest& request, pb::GroupInfo& response) -> Result<void> {
        GroupDefinition definition{.name = request.name()};
        if (request.has_query()) EVERSHARD_TRY(messages::get(*request.mutable_query(), definition.query));
        const auto start = start_of(request);
        if (!start) return refuse(start.error());
        definition.after = *start;
        EVERSHARD_TRY(messages::get(request.settings(), definition.settings));
        return put_group(
            groups.create_group(std::move(definition), request.if_absent() ? IfThere::give : IfThere::refuse),
            response);
      });
  asks<pb::ChangeGroupRequest, pb::GroupInfo>(
      "ChangeGroup", Scope::admin,
      [](Groups& groups, pb::ChangeGroupRequest& request, pb::GroupInfo& response) -> Result<void> {
        GroupSettingsChange change;
        EVERSHARD_TRY(messages::get(request.settings(), change));
        return put_group(groups.change_group(request.name(), change), response);
      });
  asks<pb::ResetGroupRequest, pb::GroupInfo>(
      "ResetGroup", Scope::admin,
      [](Groups& groups, pb::ResetGroupRequest& request, pb::GroupInfo& response) -> Result<void> {
        const auto start = start_of(request);
        if (!start) return refuse(start.error());
        return put_group(groups.reset_group(request.name(), *start), response);
      });
  asks<pb::DropGroupRequest, pb::DropGroupResponse>(
      "DropGroup", Scope::admin, [](Groups& groups, pb::DropGroupRequest& request, pb::DropGroupResponse&) {
        return groups.drop_group(request.name());
      });
  asks<pb::ListGroupsRequest, pb::ListGroupsResponse>(
      "ListGroups", Scope::read,
      [](Groups& groups, pb::ListGroupsRequest&, pb::ListGroupsResponse& response) -> Result<void> {
        const auto all = groups.list_groups();
        if (!all) return refuse(all.error());
        for (const auto& group : *all) messages::put(group, *response.add_groups());
        return {};
      });
  asks<pb::DescribeGroupRequest, pb::GroupInfo>(
      "DescribeGroup", Scope::read, [](Groups& groups, pb::DescribeGroupRequest& request, pb::GroupInfo& response) {
        return put_group(groups.group(request.name()), response);
      });
  asks<pb::ListParkedRequest, pb::ListParkedResponse>(
      "ListParked", Scope::read,
      [](Groups& groups, pb::ListParkedRequest& request, pb::ListParkedResponse& response) -> Result<void> {
        const auto limit = request.has_limit() ? std::min(request.limit(), parked_most) : parked_default;
        auto parked =
            groups.parked_events(request.name(), GlobalPosition(request.after()), static_cast<std::size_t>(limit) + 1);
        if (!parked) return refuse(parked.error());
        const bool more = parked->size() > limit;
        if (more) parked->pop_back();
        for (const auto& one : *parked) messages::put(one, *response.add_parked());
        if (more) response.set_next(parked->empty() ? request.after() : parked->back().position.value);
        return {};
      });
  asks<pb::ReplayParkedRequest, pb::ReplayParkedResponse>(
      "ReplayParked", Scope::append,
      [](Groups& groups, pb::ReplayParkedRequest& request, pb::ReplayParkedResponse& response) -> Result<void> {
        const auto events = groups.replay_parked(request.name(), position_asked(request));
        if (!events) return refuse(events.error());
        response.set_events(*events);
        return {};
      });
  asks<pb::DiscardParkedRequest, pb::DiscardParkedResponse>(
      "DiscardParked", Scope::append,
      [](Groups& groups, pb::DiscardParkedRequest& request, pb::DiscardParkedResponse& response) -> Result<void> {
        const auto events = groups.discard_parked(request.name(), position_asked(request));
        if (!events) return refuse(events.error());
        response.set_events(*events);
        return {};
      });
  both_ways("Work",
            [this](Counted& counted, Context* context) { return GroupWorkCall::start(calls_, counted, context); });
}

}  // namespace evershard::door
