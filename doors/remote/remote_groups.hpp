// RemoteGroups: the groups of a server's store.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "evershard/api/groups.hpp"
#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

class RemoteGroups final : public Groups {
 public:
  explicit RemoteGroups(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  Result<GroupInfo> create_group(GroupDefinition definition, IfThere there = IfThere::refuse) override;
  Result<GroupInfo> change_group(const std::string& name, const GroupSettingsChange& change) override;
  Result<GroupInfo> reset_group(const std::string& name, std::optional<GlobalPosition> after) override;
  Result<void> drop_group(const std::string& name) override;
  Result<std::vector<GroupInfo>> list_groups() override;
  Result<GroupInfo> group(const std::string& name) override;
  Result<std::vector<ParkedEvent>> parked_events(const std::string& name, GlobalPosition after,
                                                 std::size_t limit) override;
  Result<std::uint64_t> replay_parked(const std::string& name, std::optional<GlobalPosition> position) override;
  Result<std::uint64_t> discard_parked(const std::string& name, std::optional<GlobalPosition> position) override;
  /// Waits until it has joined.
  Result<std::shared_ptr<GroupSession>> open_session(const std::string& name, const GroupJoin& join,
                                                     std::function<void()> wake) override;
  /// A server that is gone is waited for.
  [[nodiscard]] bool comes_back() const override { return true; }

 private:
  const std::shared_ptr<Connection> connection_;
};

}  // namespace evershard::remote
