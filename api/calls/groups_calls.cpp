#include "evershard/api/calls/groups_calls.hpp"

#include <algorithm>

#include "evershard/api/messages/group_messages.hpp"

namespace evershard::calls {
namespace {

using messages::get, messages::put;

constexpr std::uint32_t parked_events_default = 100, parked_events_most = 1'000;

/// Errors: invalid_argument: both were said
template <class Request>
Result<std::optional<GlobalPosition>> group_start_of(const Request& request) {
  if (request.from_now() && request.has_after()) return refuse(ErrorCode::invalid_argument, "either after or from_now");
  if (request.from_now()) return std::optional<GlobalPosition>();
  return std::optional(GlobalPosition(request.after()));
}

template <class Request>
void put_group_start(std::optional<GlobalPosition> after, Request& request) {
  if (after)
    request.set_after(after->value);
  else
    request.set_from_now(true);
}

template <class Request>
std::optional<GlobalPosition> parked_position_in(const Request& request) {
  return request.has_position() ? std::optional(GlobalPosition(request.position())) : std::nullopt;
}

Result<void> told_group(const Result<GroupInfo>& found, pb::GroupInfo& out) {
  return told(found, [&](const GroupInfo& info) { put(info, out); });
}

const Row<Groups, pb::CreateGroupRequest, pb::GroupInfo> create_group_call(
    "/evershard.v1.Groups/CreateGroup", Scope::admin, Again::not_done, {"groups.create", &pb::CreateGroupRequest::name},
    [](Groups& groups, auto& in, auto& out) -> Result<void> {
      GroupDefinition definition{.name = in.name()};
      if (in.has_query()) EVERSHARD_TRY(get(*in.mutable_query(), definition.query));
      const auto start = group_start_of(in);
      if (!start) return refuse(start.error());
      definition.after = *start;
      EVERSHARD_TRY(get(in.settings(), definition.settings));
      return told_group(groups.create_group(std::move(definition), in.if_absent() ? IfThere::give : IfThere::refuse),
                        out);
    });
const Row<Groups, pb::ChangeGroupRequest, pb::GroupInfo> change_group_call(
    "/evershard.v1.Groups/ChangeGroup", Scope::admin, Again::not_done, {"groups.change", &pb::ChangeGroupRequest::name},
    [](Groups& groups, auto& in, auto& out) -> Result<void> {
      GroupSettingsChange change;
      EVERSHARD_TRY(get(in.settings(), change));
      return told_group(groups.change_group(in.name(), change), out);
    });
const Row<Groups, pb::ResetGroupRequest, pb::GroupInfo> reset_group_call(
    "/evershard.v1.Groups/ResetGroup", Scope::admin, Again::not_done, {"groups.reset", &pb::ResetGroupRequest::name},
    [](Groups& groups, auto& in, auto& out) -> Result<void> {
      const auto start = group_start_of(in);
      if (!start) return refuse(start.error());
      return told_group(groups.reset_group(in.name(), *start), out);
    });
const Row<Groups, pb::DropGroupRequest, pb::DropGroupResponse> drop_group_call(
    "/evershard.v1.Groups/DropGroup", Scope::admin, Again::not_done, {"groups.drop", &pb::DropGroupRequest::name},
    [](Groups& groups, auto& in, auto&) { return groups.drop_group(in.name()); });
const Row<Groups, pb::ListGroupsRequest, pb::ListGroupsResponse> list_groups_call(
    "/evershard.v1.Groups/ListGroups", Scope::read, Again::read, {}, [](Groups& groups, auto&, auto& out) {
      return told(groups.list_groups(), [&](const auto& all) {
        for (const auto& group : all) put(group, *out.add_groups());
      });
    });
const Row<Groups, pb::DescribeGroupRequest, pb::GroupInfo> describe_group_call(
    "/evershard.v1.Groups/DescribeGroup", Scope::read, Again::always,
    {"groups.describe", &pb::DescribeGroupRequest::name},
    [](Groups& groups, auto& in, auto& out) { return told_group(groups.group(in.name()), out); });
const Row<Groups, pb::ListParkedRequest, pb::ListParkedResponse> list_parked_call(
    "/evershard.v1.Groups/ListParked", Scope::read, Again::always, {"groups.parked", &pb::ListParkedRequest::name},
    [](Groups& groups, auto& in, auto& out) {
      const auto limit = in.has_limit() ? std::min(in.limit(), parked_events_most) : parked_events_default;
      return told(groups.parked_events(in.name(), GlobalPosition(in.after()), std::size_t{limit} + 1),
                  [&](const auto& parked) {
                    for (const auto& one : parked) {
                      if (static_cast<std::uint32_t>(out.parked_size()) == limit)
                        return out.set_next(limit == 0 ? in.after() : out.parked(out.parked_size() - 1).position());
                      put(one, *out.add_parked());
                    }
                  });
    });
const Row<Groups, pb::ReplayParkedRequest, pb::ReplayParkedResponse> replay_parked_call(
    "/evershard.v1.Groups/ReplayParked", Scope::append, Again::not_done,
    {"groups.replay", &pb::ReplayParkedRequest::name}, [](Groups& groups, auto& in, auto& out) {
      return told(groups.replay_parked(in.name(), parked_position_in(in)),
                  [&](std::uint64_t events) { out.set_events(events); });
    });
const Row<Groups, pb::DiscardParkedRequest, pb::DiscardParkedResponse> discard_parked_call(
    "/evershard.v1.Groups/DiscardParked", Scope::append, Again::not_done,
    {"groups.discard", &pb::DiscardParkedRequest::name}, [](Groups& groups, auto& in, auto& out) {
      return told(groups.discard_parked(in.name(), parked_position_in(in)),
                  [&](std::uint64_t events) { out.set_events(events); });
    });

template <class Request>
Result<GroupInfo> asked_for_group(Asker& asker, const Row<Groups, Request, pb::GroupInfo>& row, Request& request) {
  pb::GroupInfo response;
  EVERSHARD_TRY(asker.ask(row, request, response));
  GroupInfo info;
  EVERSHARD_TRY(get(response, info));
  return info;
}

template <class Request, class Response>
Result<std::uint64_t> ask_of_parked(Asker& asker, const Row<Groups, Request, Response>& row, const std::string& name,
                                    std::optional<GlobalPosition> position) {
  Request request;
  request.set_name(name);
  if (position) request.set_position(position->value);
  Response response;
  EVERSHARD_TRY(asker.ask(row, request, response));
  return response.events();
}

}  // namespace

const Calls<Groups>& groups_calls() {
  static const Calls<Groups> all{&create_group_call, &change_group_call,  &reset_group_call,
                                 &drop_group_call,   &list_groups_call,   &describe_group_call,
                                 &list_parked_call,  &replay_parked_call, &discard_parked_call};
  return all;
}

Result<GroupInfo> AskedGroups::create_group(GroupDefinition definition, IfThere there) {
  EVERSHARD_TRY(definition.query.check());
  pb::CreateGroupRequest request;
  request.set_name(definition.name);
  put(definition.query, *request.mutable_query());
  put_group_start(definition.after, request);
  put(definition.settings, *request.mutable_settings());
  request.set_if_absent(there == IfThere::give);
  return asked_for_group(*asker_, create_group_call, request);
}

Result<GroupInfo> AskedGroups::change_group(const std::string& name, const GroupSettingsChange& change) {
  pb::ChangeGroupRequest request;
  request.set_name(name);
  put(change, *request.mutable_settings());
  return asked_for_group(*asker_, change_group_call, request);
}

Result<GroupInfo> AskedGroups::reset_group(const std::string& name, std::optional<GlobalPosition> after) {
  pb::ResetGroupRequest request;
  request.set_name(name);
  put_group_start(after, request);
  return asked_for_group(*asker_, reset_group_call, request);
}

Result<void> AskedGroups::drop_group(const std::string& name) {
  pb::DropGroupRequest request;
  request.set_name(name);
  pb::DropGroupResponse response;
  return asker_->ask(drop_group_call, request, response);
}

Result<std::vector<GroupInfo>> AskedGroups::list_groups() {
  pb::ListGroupsRequest request;
  pb::ListGroupsResponse response;
  EVERSHARD_TRY(asker_->ask(list_groups_call, request, response));
  std::vector<GroupInfo> all;
  for (auto& group : *response.mutable_groups()) EVERSHARD_TRY(get(group, all.emplace_back()));
  return all;
}

Result<GroupInfo> AskedGroups::group(const std::string& name) {
  pb::DescribeGroupRequest request;
  request.set_name(name);
  return asked_for_group(*asker_, describe_group_call, request);
}

Result<std::vector<ParkedEvent>> AskedGroups::parked_events(const std::string& name, GlobalPosition after,
                                                            std::size_t limit) {
  std::vector<ParkedEvent> all;
  while (all.size() < limit) {
    pb::ListParkedRequest request;
    request.set_name(name);
    request.set_after(after.value);
    request.set_limit(static_cast<std::uint32_t>(std::min<std::size_t>(limit - all.size(), parked_events_most)));
    pb::ListParkedResponse response;
    EVERSHARD_TRY(asker_->ask(list_parked_call, request, response));
    for (auto& one : *response.mutable_parked()) get(one, all.emplace_back());
    if (static_cast<std::uint32_t>(response.parked_size()) < request.limit()) break;
    after = all.back().position;
  }
  return all;
}

Result<std::uint64_t> AskedGroups::replay_parked(const std::string& name, std::optional<GlobalPosition> position) {
  return ask_of_parked(*asker_, replay_parked_call, name, position);
}

Result<std::uint64_t> AskedGroups::discard_parked(const std::string& name, std::optional<GlobalPosition> position) {
  return ask_of_parked(*asker_, discard_parked_call, name, position);
}

}  // namespace evershard::calls
