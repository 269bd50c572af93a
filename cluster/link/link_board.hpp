// LinkBoard: what other threads may know of the peers.

#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "evershard/cluster/link/links.hpp"

namespace evershard::cluster {

class LinkBoard {
 public:
  /// Whether a process may take the place of who is connected as that node. Errors: unavailable: another process is
  [[nodiscard]] Result<void> admit(const LinkIdentity& peer) const {
    const std::lock_guard lock(mutex_);
    const auto found = connected_.find(peer.node);
    if (found == connected_.end() || found->second == peer.process) return {};
    return refuse(ErrorCode::unavailable, "another process is connected as node " + std::to_string(peer.node.value) +
                                              ": two must not have one number");
  }
  void up(const LinkIdentity& peer) {
    const std::lock_guard lock(mutex_);
    connected_[peer.node] = peer.process;
  }
  void down(NodeNumber node) {
    const std::lock_guard lock(mutex_);
    connected_.erase(node);
  }
  void show(std::vector<LinkStatus> status) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
  }
  [[nodiscard]] std::vector<LinkStatus> status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<NodeNumber, std::uint64_t> connected_;  ///< to their processes
  std::vector<LinkStatus> status_;
};

}  // namespace evershard::cluster
