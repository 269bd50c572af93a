// NodeProjections: the projections of a cluster on one node: hosts those whose home it is, and asks the others' homes.

#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "evershard/cluster/views/homed_projections.hpp"
#include "evershard/cluster/views/homed_tables.hpp"
#include "evershard/services/tables/host/host_tables.hpp"
#include "evershard/services/tables/host/parted_tables.hpp"
#include "evershard/services/tables/host/table_handlers.hpp"

namespace evershard::cluster {

struct NodeProjectionsOptions {
  std::filesystem::path data_dir{};  ///< rows lie in its `projections`; empty: in memory
  std::size_t block_cache_bytes = ProjectionHostOptions{}.block_cache_bytes;
  std::size_t memtables_bytes = ProjectionHostOptions{}.memtables_bytes;
  EngineOptions engine{};
  EventStore* events =
      nullptr;  ///< what is projected, opened where it is sealed; null: the node's. Owner: outlives them
};

/// A shard that is opened here brings its definitions; they are let go when it is closed: their rows are kept while
/// nobody else has the shard, and dropped when somebody has. What they are when they come back goes on where it was, or
/// is built anew (RocksProjectionOptions).
///
/// Shape: made before the node joins; close() behind HomeCalls::stop(), before the node stops. Any thread. Owner: node
/// and calls outlive it.
class NodeProjections {
 public:
  NodeProjections(ClusterNode& node, HomeCalls& homes, NodeProjectionsOptions options);
  ~NodeProjections() { close(); }

  [[nodiscard]] Projections& projections() { return parted_; }
  [[nodiscard]] Tables& tables() { return parted_; }
  /// What is hosted here.
  [[nodiscard]] ProjectionHost& host() { return host_; }
  /// Of tables, on this node. Errors: invalid_argument: there is one of that name
  [[nodiscard]] Result<void> add_table_handler(const std::string& name, actors::TableHandler handler);

  /// Nothing works any more, nothing is written. Idempotent.
  void close();

 private:
  NodeProjections(ClusterNode& node, EventStore& events, HomeCalls& homes, const NodeProjectionsOptions& options);
  void look();
  void say(const Error& trouble);

  std::shared_ptr<TableHandlers> handlers_ = std::make_shared<TableHandlers>();
  ProjectionHost host_;
  HostTables here_;
  HomedProjections homed_;
  HomedTables tables_;
  PartedTables parted_;
  HomeCalls& homes_;
  const std::function<void(const Error&)> warn_;
  std::string said_;  ///< of the looker's thread
  std::mutex mutex_;
  std::condition_variable changed_;
  bool look_now_ = true, closing_ = false;
  std::once_flag closed_;
  std::thread looker_;
};

}  // namespace evershard::cluster
