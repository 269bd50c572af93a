// ClusterGroups: the groups of a cluster, from any of its nodes: each is hosted by the node that owns the shard of its
// definition.

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "evershard/api/calls/groups_calls.hpp"
#include "evershard/cluster/groups/group_home.hpp"
#include "evershard/cluster/groups/remote_group.hpp"
#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/cluster/node/cluster_node.hpp"
#include "evershard/services/groups/host/group_host.hpp"

namespace evershard::cluster {

struct ClusterGroupsOptions {
  GroupHostOptions host{};  ///< at_home and keep are set here
  RemoteGroup::Options remote{};
  EventStore* events =
      nullptr;  ///< what is given to workers, opened where it is sealed; null: the node's. Owner: outlives them
  std::function<Result<void>(RecordedEvent&)> open{};  ///< opens one that was read by the node itself
};

/// What is asked of one group goes to its home. A worker's session is with the home: it is over when that dies or the
/// shard moves, and the worker joins again by itself. Its state is the snapshot of its definition's aggregate, which
/// only the shard's owner writes, under the epoch it loaded it in.
///
/// Shape:  before the node joins; serve() is done by it. stop() while node and homes are there.
/// Source: docs/groups.md
class ClusterGroups final : public calls::AskedGroups {
 public:
  ClusterGroups(ClusterNode& node, HomeCalls& homes, ClusterGroupsOptions options);
  ~ClusterGroups() override;

  Result<GroupInfo> create_group(GroupDefinition definition, IfThere there = IfThere::refuse) override;
  Result<GroupInfo> change_group(const std::string& name, const GroupSettingsChange& change) override;
  /// One whose home can be read and does not answer for it has that as its trouble. Errors: unavailable: a node is
  /// away, and with it definitions
  Result<std::vector<GroupInfo>> list_groups() override;
  Result<std::shared_ptr<GroupSession>> open_session(const std::string& name, const GroupJoin& join,
                                                     std::function<void()> wake) override;
  [[nodiscard]] bool comes_back() const override { return true; }

  /// Of those at home here.
  [[nodiscard]] std::vector<GroupInfo> figures() { return host_.figures(); }
  /// How many groups with other homes it remembers: those that are worked on from here, and a few.
  [[nodiscard]] std::size_t known_elsewhere();
  /// Waits a moment for other homes to know who has left, as the workers of a door that was closed.
  void tell_who_left();
  /// Workers are told that the store closes, what was settled is kept. Any number of times.
  void stop();

 private:
  /// Under the mutex.
  void forget_unused();
  [[nodiscard]] Result<GroupInfo> describe(const std::string& name, std::chrono::milliseconds time);

  ClusterNode& node_;
  HomeCalls& homes_;
  const ClusterGroupsOptions options_;
  Catalogue catalogue_;
  GroupHost host_;
  GroupHome home_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<RemoteGroup>> remote_;
  bool stopped_ = false;
  std::atomic<bool> trying_{false};  ///< somebody waits for a home that did not answer
};

}  // namespace evershard::cluster
