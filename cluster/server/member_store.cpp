#include "evershard/cluster/server/member_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "evershard/cluster/peers/joined_store.hpp"
#include "evershard/cluster/server/advertised_door.hpp"
#include "evershard/storage/backup.hpp"
#include "evershard/storage/vacuum.hpp"
#include "evershard/storage/verify.hpp"

namespace evershard::server {
namespace {

/// What an operator asks of one node: its own part.
class MemberAdministration final : public Administration {
 public:
  explicit MemberAdministration(storage::NodeStore& store) : store_(store) {}

  [[nodiscard]] Result<StoreStats> stats() const override {
    const auto& identity = store_.identity();
    StoreStats stats;
    stats.info = {identity.store.text(), identity.shards, identity.format, identity.hash, identity.created_at, identity.fork.text()};
    auto store = store_.stats();
    stats.watermark = store.watermark;
    stats.sealed = store.mark;
    stats.tail_events = store.tail_events;
    stats.commits = store.commits;
    stats.disk_bytes = store.disk_bytes;
    stats.disk_free_bytes = store.disk_free_bytes;
    stats.memory_bytes = store.memory_bytes;
    stats.backend_assertions = store.backend_assertions;
    stats.details = std::move(store.details);
    stats.details.emplace_back("cluster.node", identity.node);
    return stats;
  }
  [[nodiscard]] Result<void> flush() override { return store_.seal(); }
  [[nodiscard]] Result<VerifyReport> verify(Progress progress) override {
    auto report = storage::verify(store_, std::move(progress));
    if (!report) return refuse(std::move(report).error());
    return VerifyReport{report->events, report->records, report->index_rows, report->snapshots, report->errors, std::move(report->findings)};
  }
  [[nodiscard]] Result<void> vacuum(Progress progress) override { return storage::vacuum(store_, std::move(progress)); }
  [[nodiscard]] Result<GlobalPosition> backup(const std::filesystem::path& target, BackupOptions options, Progress progress) override {
    storage::BackupOptions copied;
    copied.truth_only = options.truth_only;
    copied.up_to = options.up_to;
    return storage::backup(store_, target, copied, progress);
  }

 private:
  storage::NodeStore& store_;
};

ClusterStatus remembered_status(ClusterView view, std::string trouble) {
  ClusterStatus status;
  status.trouble = std::move(trouble);
  status.coordinator = view.coordinator;
  for (auto& node : view.nodes) {
    const auto own = std::ranges::count(view.shards, node.node, &ClusterView::Shard::node);
    status.nodes.push_back({std::move(node), static_cast<std::uint32_t>(own), {}, 0, 0});
  }
  for (const auto& shard : view.shards) status.shards.push_back({shard.node, shard.epoch, false, {}, {}, {}, {}});
  return status;
}

class MemberStore final : public StoreInService, private ClusterAdministration {
 public:
  MemberStore(std::unique_ptr<cluster::NodeLinks> links, std::unique_ptr<storage::NodeStore> store, const cluster::ClusterNodeOptions& options, std::string host)
      : door_is_given_(!options.committer.door.empty()),
        host_(std::move(host)),
        store_(std::move(store)), links_(std::move(links)), node_(std::make_unique<cluster::ClusterNode>(*store_, *links_, options)), administration_(*store_) {}
  ~MemberStore() override {
    close();
    links_.reset();  // before the node: answers that are still to come need it
    node_.reset();
  }
  [[nodiscard]] EventStore& store() override { return *node_; }
  [[nodiscard]] Administration& administration() override { return administration_; }
  [[nodiscard]] ClusterAdministration* cluster() override { return this; }
  void serves_at(const std::vector<std::string>& addresses) override {
    if (!door_is_given_) node_->committer().serves_at(advertised_door(addresses, host_));
  }
  [[nodiscard]] ClusterView view() const override { return node_->view(); }
  /// Says hello to the coordinator, who gives it shards: not before clients can be served.
  void begin() override { links_->attach(*node_); }
  [[nodiscard]] Result<ClusterStatus> status() override {
    auto status = links_->cluster_status();
    if (!status) status = remembered_status(node_->view(), status.error().what);
    status->self = node_->view().self;
    status->applied = node_->committer().watch().watermark();
    return status;
  }
  [[nodiscard]] Result<ShardsAssigned> assign(const ShardAssignment& wanted) override { return links_->cluster_assign(wanted); }
  void close() override {
    if (std::exchange(closed_, true)) return;
    links_->detach();
    node_->committer().stop();
  }

 private:
  const bool door_is_given_;
  const std::string host_;  ///< for a door that listens at all addresses
  std::unique_ptr<storage::NodeStore> store_;
  std::unique_ptr<cluster::NodeLinks> links_;
  std::unique_ptr<cluster::ClusterNode> node_;
  MemberAdministration administration_;
  bool closed_ = false;
};

std::string name_of_this_machine() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "127.0.0.1";
}

}  // namespace

OpenStore open_member(MemberOptions options) {
  return [options = std::move(options)](const ServerOptions& server, serving::Log& log) -> Result<std::unique_ptr<StoreInService>> {
    auto link_options = options.links;
    link_options.refused = [&log](const std::string& whom, const Error& why) { log.warning("link refused", {{"peer", whom}, {"error", why.what}}); };
    auto links = cluster::NodeLinks::open(std::move(link_options));
    if (!links) return refuse(std::move(links).error());
    log.info("listening", {{"speaks", "peers"}, {"address", options.links.listen_host + ':' + std::to_string((*links)->port())}});

    storage::StoreOptions store;
    store.data_dir = server.store.data_dir;
    store.create = server.store.create;
    store.tail_events = server.store.tail_events;
    store.block_cache_bytes = server.store.block_cache_bytes;
    store.memtable_bytes = server.store.memtable_bytes;
    store.disk_reserve_bytes = server.store.disk_reserve_bytes;
    auto opened = cluster::open_joined_store(**links, options.node, std::move(store), options.coordinator_timeout);
    if (!opened) return refuse(std::move(opened).error());

    cluster::ClusterNodeOptions node;
    node.committer.self = {options.node, cluster::random_incarnation()};
    node.committer.address = !options.address.empty() ? options.address : options.links.listen_host + ':' + std::to_string((*links)->port());
    node.committer.door = options.door;
    node.committer.version = options.version;
    node.committer.skip_lost = options.skip_lost;
    node.committer.limits = server.store.limits;
    node.committer.warn = [&log](const Error& error) { log.error("cluster", {{"code", name_of(error.code)}, {"error", error.what}}); };
    node.page_events_max = server.store.limits.page_events_max;
    return std::make_unique<MemberStore>(std::move(*links), std::move(*opened), node, options.address.empty() ? name_of_this_machine() : host_of(options.address));
  };
}

}  // namespace evershard::server
