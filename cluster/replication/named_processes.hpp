// NamedProcesses: a node is a number; what counts is a process with a disk. Which one, the coordinator says.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "evershard/cluster/order/messages.hpp"
#include "evershard/cluster/replication/shipment.hpp"

namespace evershard::cluster {

/// Whose words a writer counts: of each node those of the one process that the present coordinator took a hello of.
/// Another process of that number, such as one that was frozen while another took its place on another disk, has a disk
/// that no set means.
///
/// Words of a process that is not named are kept, since the coordinator may be about to name it.
///
/// Owner:  one thread.
/// Source: docs/internals/replication.md, rule 31; invariant I-Quorum.
class NamedProcesses {
 public:
  /// What follows from a new naming.
  struct Changes {
    std::vector<std::uint32_t> lost{};   ///< nodes: nothing that was known of them counts any more
    std::vector<std::uint32_t> named{};  ///< nodes whose last words count from now on: heard()
  };

  /// Shape: as the coordinator sends them. One of an earlier coordinator, or an earlier naming, changes nothing.
  Changes take(const Members& members);
  /// A follower's word. Returns: whether it counts.
  bool hear(std::uint32_t node, const FollowerTold& told);
  /// The session with the node is over: of what was said in it nothing counts, until it is said again.
  void lost(std::uint32_t node) { heard_.erase(node); }
  /// What the node's process said last of each shard. Nothing: it has said nothing.
  [[nodiscard]] std::optional<FollowerTold> heard(std::uint32_t node) const;
  /// Up to where namings are known; 0: none is, or the coordinator is of an earlier release and names nobody.
  [[nodiscard]] std::uint64_t naming() const { return naming_; }

 private:
  [[nodiscard]] bool counts(std::uint32_t node, std::uint64_t process) const;

  Epoch coordinator_{};
  std::uint64_t naming_ = 0;
  bool names_nobody_ = false;  ///< the coordinator is of an earlier release
  std::map<std::uint32_t, std::uint64_t> named_;
  struct Heard {
    std::uint64_t process = 0;
    std::map<ShardId, FollowedShard> shards{};
  };
  std::map<std::uint32_t, Heard> heard_;
};

}  // namespace evershard::cluster
