#include "evershard/cluster/views/node_projections.hpp"

#include <chrono>
#include <utility>

#include "evershard/cluster/views/home_share.hpp"
#include "evershard/services/tables/host/projection_kinds.hpp"

namespace evershard::cluster {
namespace {

constexpr auto look_every =
    std::chrono::seconds(1);  ///< for what was defined and not told: an append whose outcome nobody heard

ProjectionHostOptions host_of(ClusterNode& node, HomeCalls& homes, const NodeProjectionsOptions& options) {
  const auto& identity = node.committer().store().identity();
  ProjectionHostOptions host;
  if (!options.data_dir.empty()) host.folder = options.data_dir / "projections";
  host.owner = {identity.store, identity.fork};
  host.block_cache_bytes = options.block_cache_bytes;
  host.memtables_bytes = options.memtables_bytes;
  host.engine = options.engine;
  host.engine.reads_whole_only = true;
  host.share = std::make_shared<HomeShare>(node, homes);
  return host;
}

PartedTablesOptions parted_of(HomeCalls& homes, ProjectionHost& host, std::function<void(const Error&)> warn) {
  const actors::DefinitionNames names("projection");
  return {.home_of = [&homes, names](const std::string& name) { return homes.owner(names.aggregate(name)); },
          .hosted = [&host] { return host.hosted(); },
          .look_every = look_every,
          .threads = 16,
          .warn = std::move(warn)};
}

}  // namespace

NodeProjections::NodeProjections(ClusterNode& node, HomeCalls& homes, NodeProjectionsOptions options)
    : NodeProjections(node, options.events != nullptr ? *options.events : node, homes, options) {}

NodeProjections::NodeProjections(ClusterNode& node, EventStore& events, HomeCalls& homes,
                                 const NodeProjectionsOptions& options)
    : host_(events, projection_kinds(events, options.data_dir, handlers_), host_of(node, homes, options)),
      here_(events, host_),
      homed_(node, homes, host_),
      tables_(homes, here_, homed_),
      parted_(events, homed_, tables_, parted_of(homes, host_, options.engine.warn)),
      homes_(homes),
      warn_(options.engine.warn) {
  homed_.serve();
  tables_.serve();
  looker_ = std::thread([this] { look(); });
  parted_.begin();
  homes_.watch(this, [this](const NodeCommitter::OpenShards&) {
    const std::lock_guard lock(mutex_);
    look_now_ = true;
    changed_.notify_all();
  });
}

void NodeProjections::look() {
  for (std::unique_lock lock(mutex_);;) {
    changed_.wait_for(lock, look_every, [this] { return closing_ || look_now_; });
    if (closing_) return;
    look_now_ = false;
    lock.unlock();
    if (const auto looked = host_.look_again(); !looked) say(looked.error());  // and it is tried again in a moment
    lock.lock();
  }
}

/// A node that is away, or a shard that opens, is nothing to say.
void NodeProjections::say(const Error& trouble) {
  if (!warn_ || (trouble.code == ErrorCode::unavailable && !trouble.lasting()) || trouble.code == ErrorCode::timeout)
    return;
  if (std::exchange(said_, trouble.what) != trouble.what)
    warn_(Error(trouble.code, "projections of this node do not go on: " + trouble.what));
}

Result<void> NodeProjections::add_table_handler(const std::string& name, actors::TableHandler handler) {
  EVERSHARD_TRY(handlers_->add(name, std::move(handler)));
  host_.retry();
  return {};
}

void NodeProjections::close() {
  std::call_once(closed_, [this] {
    homes_.watch(this, {});
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    looker_.join();
    parted_.close();
    host_.close();
  });
}

}  // namespace evershard::cluster
