#include "evershard/doors/remote/remote_groups.hpp"

#include "evershard/doors/remote/group_stream.hpp"

namespace evershard::remote {

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
