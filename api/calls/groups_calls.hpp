// The calls of Groups but for work, and the groups that are asked for by them.

#pragma once

#include <memory>
#include <utility>

#include "evershard/api/calls/call.hpp"
#include "evershard/api/groups.hpp"

namespace evershard::calls {

[[nodiscard]] const Calls<Groups>& groups_calls();

/// Groups elsewhere. Work with them is a stream, for whoever carries it.
class AskedGroups : public Groups {
 public:
  explicit AskedGroups(std::shared_ptr<Asker> asker) : asker_(std::move(asker)) {}

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

 private:
  const std::shared_ptr<Asker> asker_;
};

}  // namespace evershard::calls
