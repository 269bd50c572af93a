#include "evershard/doors/remote/remote_groups.hpp"

#include <algorithm>

#include "evershard/api/messages/group_messages.hpp"
#include "evershard/doors/remote/group_stream.hpp"
#include "evershard/doors/remote/sendable.hpp"

namespace evershard::remote {
namespace {

constexpr std::size_t parked_a_call = 1'000;

/// Shape: `call`: grpc::Status(Door&, grpc::ClientContext&)
template <class Call>
Result<GroupInfo> ask_group(Connection& connection, Connection::Again again, pb::GroupInfo& response, Call call) {
  EVERSHARD_TRY(connection.ask(
      [&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) { return call(door, context); }, again));
  GroupInfo info;
  EVERSHARD_TRY(messages::get(response, info));
  return info;
}

}  // namespace

Result<GroupInfo> RemoteGroups::create_group(GroupDefinition definition, IfThere there) {
  EVERSHARD_TRY(definition.query.check());
  pb::CreateGroupRequest request;
  request.set_name(definition.name);
  messages::put(definition.query, *request.mutable_query());
  if (definition.after)
    request.set_after(definition.after->value);
  else
    request.set_from_now(true);
  messages::put(definition.settings, *request.mutable_settings());
  request.set_if_absent(there == IfThere::give);
  EVERSHARD_TRY(sendable(request));
  pb::GroupInfo response;
  // A second time it gives what the first has made.
  const auto again = there == IfThere::give ? Connection::Again::not_served : Connection::Again::not_sent;
  return ask_group(*connection_, again, response, [&](Door& door, grpc::ClientContext& context) {
    return door.groups->CreateGroup(&context, request, &response);
  });
}

Result<GroupInfo> RemoteGroups::change_group(const std::string& name, const GroupSettingsChange& change) {
  pb::ChangeGroupRequest request;
  request.set_name(name);
  messages::put(change, *request.mutable_settings());
  EVERSHARD_TRY(sendable(request));
  pb::GroupInfo response;
  return ask_group(*connection_, Connection::Again::not_sent, response, [&](Door& door, grpc::ClientContext& context) {
    return door.groups->ChangeGroup(&context, request, &response);
  });
}

Result<GroupInfo> RemoteGroups::reset_group(const std::string& name, std::optional<GlobalPosition> after) {
  pb::ResetGroupRequest request;
  request.set_name(name);
  if (after)
    request.set_after(after->value);
  else
    request.set_from_now(true);
  EVERSHARD_TRY(sendable(request));
  pb::GroupInfo response;
  return ask_group(*connection_, Connection::Again::not_sent, response, [&](Door& door, grpc::ClientContext& context) {
    return door.groups->ResetGroup(&context, request, &response);
  });
}

Result<void> RemoteGroups::drop_group(const std::string& name) {
  pb::DropGroupRequest request;
  request.set_name(name);
  EVERSHARD_TRY(sendable(request));
  pb::DropGroupResponse response;
  return connection_->ask(
      [&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
        return door.groups->DropGroup(&context, request, &response);
      },
      Connection::Again::not_sent);
}

Result<std::vector<GroupInfo>> RemoteGroups::list_groups() {
  pb::ListGroupsResponse response;
  EVERSHARD_TRY(connection_->ask([&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
    return door.groups->ListGroups(&context, {}, &response);
  }));
  std::vector<GroupInfo> all(static_cast<std::size_t>(response.groups_size()));
  for (int i = 0; i < response.groups_size(); ++i)
    EVERSHARD_TRY(messages::get(*response.mutable_groups(i), all[static_cast<std::size_t>(i)]));
  return all;
}

Result<GroupInfo> RemoteGroups::group(const std::string& name) {
  pb::DescribeGroupRequest request;
  request.set_name(name);
  EVERSHARD_TRY(sendable(request));
  pb::GroupInfo response;
  return ask_group(*connection_, Connection::Again::not_served, response,
                   [&](Door& door, grpc::ClientContext& context) {
                     return door.groups->DescribeGroup(&context, request, &response);
                   });
}

Result<std::vector<ParkedEvent>> RemoteGroups::parked_events(const std::string& name, GlobalPosition after,
                                                             std::size_t limit) {
  std::vector<ParkedEvent> all;
  while (all.size() < limit) {
    pb::ListParkedRequest request;
    request.set_name(name);
    request.set_after(after.value);
    request.set_limit(static_cast<std::uint32_t>(std::min(limit - all.size(), parked_a_call)));
    EVERSHARD_TRY(sendable(request));
    pb::ListParkedResponse response;
    EVERSHARD_TRY(connection_->ask([&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
      return door.groups->ListParked(&context, request, &response);
    }));
    for (auto& one : *response.mutable_parked()) messages::get(one, all.emplace_back());
    if (static_cast<std::uint32_t>(response.parked_size()) < request.limit()) break;
    after = all.back().position;
  }
  return all;
}

Result<std::uint64_t> RemoteGroups::replay_parked(const std::string& name, std::optional<GlobalPosition> position) {
  pb::ReplayParkedRequest request;
  request.set_name(name);
  if (position) request.set_position(position->value);
  EVERSHARD_TRY(sendable(request));
  pb::ReplayParkedResponse response;
  EVERSHARD_TRY(connection_->ask(
      [&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
        return door.groups->ReplayParked(&context, request, &response);
      },
      Connection::Again::not_sent));
  return response.events();
}

Result<std::uint64_t> RemoteGroups::discard_parked(const std::string& name, std::optional<GlobalPosition> position) {
  pb::DiscardParkedRequest request;
  request.set_name(name);
  if (position) request.set_position(position->value);
  EVERSHARD_TRY(sendable(request));
  pb::DiscardParkedResponse response;
  EVERSHARD_TRY(connection_->ask(
      [&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
        return door.groups->DiscardParked(&context, request, &response);
      },
      Connection::Again::not_sent));
  return response.events();
}

Result<std::shared_ptr<GroupSession>> RemoteGroups::open_session(const std::string& name, const GroupJoin& join,
                                                                 std::function<void()> wake) {
  const auto deadline = Connection::Clock::now() + connection_->options().timeout;
  auto door = connection_->door(deadline);
  if (!door) return refuse(std::move(door).error());
  auto stream = std::make_shared<GroupStream>(connection_, **door, std::move(wake));
  if (auto joined = stream->join(name, join, deadline); !joined) return refuse(std::move(joined).error());
  return stream;
}

}  // namespace evershard::remote
