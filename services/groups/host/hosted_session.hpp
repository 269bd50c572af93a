// HostedSession: one stay of a worker in a group that this process hosts.

#pragma once

#include <memory>
#include <utility>

#include "evershard/services/groups/host/hosted_group.hpp"

namespace evershard::cluster {

class HostedSession final : public GroupSession {
 public:
  HostedSession(std::shared_ptr<HostedGroup> group, actors::GroupWorkerId worker)
      : group_(std::move(group)), worker_(worker) {}
  /// Whoever lets go of it leaves.
  ~HostedSession() override { group_->leave(worker_, false); }

  Result<std::vector<GroupDelivery>> take(std::size_t most) override { return group_->take(worker_, most); }
  /// The same on the worker's behalf: it says nothing of the worker itself.
  [[nodiscard]] Result<std::vector<GroupDelivery>> take_for(std::size_t most) {
    return group_->take(worker_, most, false);
  }
  void settle(std::vector<GroupSettlement> settlements, GroupSettled done) override {
    group_->settle(worker_, settlements, std::move(done));
  }
  Result<void> renew(const std::vector<GlobalPosition>& positions) override {
    return group_->renew(worker_, positions);
  }
  Result<void> alive() override { return group_->alive(worker_); }
  void leave() override { group_->leave(worker_, false); }
  void lose() override { group_->leave(worker_, true); }
  [[nodiscard]] std::chrono::milliseconds lease() const override { return group_->lease(); }

 private:
  const std::shared_ptr<HostedGroup> group_;
  const actors::GroupWorkerId worker_;
};

}  // namespace evershard::cluster
