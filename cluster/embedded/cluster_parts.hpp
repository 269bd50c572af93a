// ClusterParts: what a node in an application's process is made of, for who offers it to others.

#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "evershard/protocol/limits.hpp"

namespace evershard {

class Cluster;
namespace storage {
class NodeStore;
}
namespace cluster {
class ClusterGroups;
class ClusterNode;
class ClusterRetention;
class HomeCalls;
class LazyDocuments;
class NodeLinks;
class NodeProjections;
class ScheduledHost;
}  // namespace cluster

/// Owner: the Cluster.
struct ClusterParts {
  storage::NodeStore& store;
  cluster::NodeLinks& links;
  cluster::ClusterNode& node;
  cluster::HomeCalls& homes;
  cluster::NodeProjections& projections;
  cluster::LazyDocuments& documents;
  cluster::ClusterGroups& groups;
  cluster::ClusterRetention& retention;
  cluster::ScheduledHost& scheduled;
  const std::filesystem::path& data_dir;
  const Limits& limits;
  const std::string& address;                  ///< at which the other nodes reach it
  std::function<std::uint64_t()> rewritten{};  ///< cluster::rewritten_on, and other nodes' removals

  [[nodiscard]] static ClusterParts of(Cluster& cluster);
};

}  // namespace evershard
