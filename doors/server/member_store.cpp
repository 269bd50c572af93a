#include "evershard/doors/server/member_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "evershard/api/this_process.hpp"
#include "evershard/api/user_events.hpp"
#include "evershard/cluster/aggregates/cluster_aggregates.hpp"
#include "evershard/cluster/groups/cluster_groups.hpp"
#include "evershard/cluster/keys/rewritten.hpp"
#include "evershard/cluster/keys/sealed_node.hpp"
#include "evershard/cluster/peers/aggregate_links.hpp"
#include "evershard/cluster/peers/home_links.hpp"
#include "evershard/cluster/peers/joined_store.hpp"
#include "evershard/cluster/peers/key_links.hpp"
#include "evershard/cluster/removal/cluster_retention.hpp"
#include "evershard/cluster/removal/removal_watch.hpp"
#include "evershard/cluster/views/node_projections.hpp"
#include "evershard/doors/server/advertised_door.hpp"
#include "evershard/doors/server/member_administration.hpp"
#include "evershard/doors/server/member_homes.hpp"
#include "evershard/doors/server/peer_settings.hpp"
#include "evershard/doors/server/readiness.hpp"
#include "evershard/doors/server/ready_figure.hpp"
#include "evershard/local/local_projections.hpp"
#include "evershard/services/documents/lazy_documents.hpp"
#include "evershard/services/names/named_readers.hpp"
#include "evershard/services/processes/process_host.hpp"
#include "evershard/services/processes/store_processes.hpp"
#include "evershard/services/scheduled/scheduled_host.hpp"
#include "evershard/services/timers/timer_host.hpp"

namespace evershard::server {
namespace {

/// What is due in this node's shards is done here.
cluster::DueHostOptions due_here(cluster::ClusterNode& node, const cluster::ClusterNodeOptions& options) {
  return {.lives_here = [&node, self = options.committer.self.node](
                            ShardId shard) { return node.committer().owner(shard) == self; },
          .warn = options.committer.warn};
}

/// The program's aggregates that live on this node, and the way to those that live on others.
class MemberAggregates {
 public:
  MemberAggregates(cluster::ClusterNode& node, cluster::NodeLinks& links, cluster::SealedNode& sealed,
                   const cluster::ClusterNodeOptions& options, const AggregateOptions& live, std::string fork,
                   std::function<std::uint64_t()> rewritten)
      : links_(links),
        aggregates_(node, links_, options_of(sealed, options, live, fork)),
        timers_(
            sealed.events(), [this]() -> AggregateDoor& { return aggregates_; }, due_here(node, options)),
        processes_(
            sealed.events(), [this]() -> AggregateDoor& { return aggregates_; },
            process_host_of(node, options, std::move(fork), std::move(rewritten))),
        warn_(options.committer.warn) {
    links_.serve(aggregates_);
  }
  [[nodiscard]] cluster::ClusterAggregates& door() { return aggregates_; }
  /// From begin() on. Errors: as ProcessDoor::run_process
  [[nodiscard]] Result<void> will_run(const ServedProcess& process) {
    auto effects = effects_of(process);
    if (!effects) return refuse(std::move(effects).error());
    EVERSHARD_TRY(actors::ProcessDriver::check(*process.definition, process.options, *effects));
    EVERSHARD_TRY(aggregates_.host_kind(process.definition->kind, {}));
    to_run_.push_back({process.definition, process.options, *std::move(effects)});
    return {};
  }
  /// It may be given shards.
  void begin() {
    timers_.begin();
    for (auto& process : std::exchange(to_run_, {})) {
      const auto type = process.definition->type;
      const auto runs = processes_.run(std::move(process.definition), process.options, std::move(process.effects));
      if (!runs && warn_) warn_(Error(runs.error().code, "process " + type + " does not run: " + runs.error().what));
    }
  }
  /// What was sent is still written and answered.
  void stop() {
    processes_.stop();
    timers_.stop();
    aggregates_.stop();
  }
  void add_figures(std::vector<std::pair<std::string, std::uint64_t>>& details) const {
    const auto sum = aggregates_.figures();
    details.emplace_back("aggregates.known", sum.known);
    details.emplace_back("aggregates.live", sum.live);
    details.emplace_back("aggregates.waiting", aggregates_.waiting());
    sum.counters.each(
        [&](const char* name, std::uint64_t count) { details.emplace_back(std::string("aggregates.") + name, count); });
  }

 private:
  static cluster::ClusterAggregatesOptions options_of(cluster::SealedNode& sealed,
                                                      const cluster::ClusterNodeOptions& node,
                                                      const AggregateOptions& live, const std::string& fork) {
    cluster::ClusterAggregatesOptions options;
    options.node = node.committer.self.node;
    options.host.live_max = live.live_limit;
    options.host.idle_after = live.idle_after;
    options.host.recovery_permits = live.recovery_permits;
    options.host.reading_threads = live.reading_threads;
    options.host.limits = node.committer.limits;
    options.host.fork = fork;
    options.sealing = sealed.sealing();
    options.sealing_queue = &sealed.queue();
    return options;
  }

  struct ToRun {
    std::shared_ptr<const ProcessDefinition> definition;
    ProcessOptions options;
    Effects effects;
  };
  static cluster::ProcessHostOptions process_host_of(cluster::ClusterNode& node,
                                                     const cluster::ClusterNodeOptions& options, std::string fork,
                                                     std::function<std::uint64_t()> rewritten) {
    const auto self = options.committer.self.node;
    return {.lives_here =
                [&node, self](const AggregateId& aggregate) {
                  return node.committer().owner(node.shard_of(aggregate)) == self;
                },
            .warn = options.committer.warn,
            .name = "node " + std::to_string(self) + ", " + this_process(),
            .fork = std::move(fork),
            .rewritten = std::move(rewritten)};
  }

  cluster::AggregateLinks links_;
  cluster::ClusterAggregates aggregates_;
  cluster::TimerHost timers_;
  cluster::ProcessHost processes_;  ///< its end waits for what the aggregates answer
  const std::function<void(const Error&)> warn_;
  std::vector<ToRun> to_run_;
};

cluster::StoreDocumentsOptions documents_of(const storage::NodeStore& store, const std::filesystem::path& data_dir,
                                            std::function<void(const Error&)> warn) {
  cluster::StoreDocumentsOptions options{.owner = {store.identity().store, store.identity().fork}, .removals = true};
  options.engine.warn = std::move(warn);
  if (!data_dir.empty()) options.folder = data_dir / "documents";
  return options;
}

cluster::NodeProjectionsOptions projections_of(const LocalOptions& served, EventStore& events,
                                               std::function<void(const Error&)> warn) {
  cluster::NodeProjectionsOptions options{.data_dir = served.data_dir,
                                          .block_cache_bytes = served.projections.block_cache_bytes,
                                          .memtables_bytes = served.projections.memtables_bytes};
  options.engine = cluster::engine_of(served.projections);
  options.engine.warn = std::move(warn);
  options.events = &events;
  return options;
}

cluster::ClusterGroupsOptions groups_of(storage::NodeStore& store, cluster::SealedNode& sealed,
                                        std::function<std::uint64_t()> rewritten,
                                        std::function<void(const Error&)> warn) {
  cluster::ClusterGroupsOptions options{
      .host = {.fork_id = store.identity().fork.text(), .rewritten = std::move(rewritten), .warn = std::move(warn)}};
  options.events = &sealed.events();
  options.open = [sealing = sealed.sealing()](RecordedEvent& event) { return sealing->open(event); };
  return options;
}

class MemberStore final : public StoreInService {
 public:
  MemberStore(std::unique_ptr<cluster::NodeLinks> links, std::unique_ptr<storage::NodeStore> store,
              const cluster::ClusterNodeOptions& options, std::string host, std::string kurrent_door,
              const ServerOptions& server)
      : door_is_given_(!options.committer.door.empty()),
        host_(std::move(host)),
        kurrent_door_(std::move(kurrent_door)),
        store_(std::move(store)),
        links_(std::move(links)),
        node_(std::make_unique<cluster::ClusterNode>(*store_, *links_, options)),
        key_links_(*links_),
        sealed_(std::make_unique<cluster::SealedNode>(*node_, key_links_)),
        removals_(std::make_unique<cluster::RemovalWatch>(sealed_->events())),
        rewritten_(removals_->with(cluster::rewritten_on(*store_, sealed_->sealing()))),
        hosts_(!server.kinds.empty()),
        aggregates_(!hosts_ && server.processes.empty()
                        ? nullptr
                        : std::make_unique<MemberAggregates>(*node_, *links_, *sealed_, options,
                                                             server.store.aggregates, store_->identity().fork.text(),
                                                             rewritten_)),
        home_links_(*links_),
        homes_(std::make_unique<cluster::HomeCalls>(*node_, home_links_,
                                                    cluster::HomeCallsOptions{.node = options.committer.self.node})),
        of_doors_(std::make_unique<MemberHomes>(*node_, *homes_)),
        readiness_(*node_, *homes_),
        projections_(std::make_unique<cluster::NodeProjections>(
            *node_, *homes_, projections_of(server.store, sealed_->events(), options.committer.warn))),
        documents_(std::make_unique<cluster::LazyDocuments>(
            sealed_->events(), documents_of(*store_, server.store.data_dir, options.committer.warn))),
        groups_(std::make_unique<cluster::ClusterGroups>(
            *node_, *homes_, groups_of(*store_, *sealed_, rewritten_, options.committer.warn))),
        readers_(std::make_unique<cluster::NamedReaders>(&projections_->projections(), *documents_, *groups_,
                                                         options.committer.warn)),
        retention_(std::make_unique<cluster::ClusterRetention>(
            *node_, *store_, *homes_,
            cluster::NodeRetentionOptions{.touched =
                                              [this](const AggregateId& aggregate) {
                                                if (aggregates_) aggregates_->door().passivate(aggregate);
                                              },
                                          .heard = [this] { removals_->heard(); },
                                          .keys = sealed_->keys()})),
        scheduled_(std::make_unique<cluster::ScheduledHost>(sealed_->events(), options.committer.limits,
                                                            due_here(*node_, options))),
        processes_(sealed_->events()),
        users_(
            sealed_->events(),
            [this](const AggregateId& aggregate, const EventId& marker, GlobalPosition at_least) {
              return retention_->take_over(aggregate, marker, at_least);
            },
            [this](const Query& query) { return readers_->check_follower(query); }),
        administration_(*node_, *store_, *projections_, *documents_, *groups_, *retention_, *scheduled_,
                        [this](auto& details) {
                          details.emplace_back(ready_figure, readiness_.look() ? 0 : 1);
                          if (aggregates_) aggregates_->add_figures(details);
                        }),
        orders_(*node_, *links_, *store_) {
    home_links_.serve(*homes_);
    key_links_.serve(*sealed_->keys());
  }
  ~MemberStore() override {
    close();
    links_.reset();  // before the node: answers that are still to come need it
    scheduled_.reset();
    retention_.reset();
    readers_.reset();
    groups_.reset();
    documents_.reset();
    projections_.reset();
    of_doors_.reset();
    homes_.reset();
    aggregates_.reset();
    removals_.reset();
    sealed_.reset();
    node_.reset();
  }
  [[nodiscard]] EventStore& store() override { return users_; }
  [[nodiscard]] EventStore& all_names() override { return sealed_->events(); }
  [[nodiscard]] EventStore& unopened() override { return *node_; }
  [[nodiscard]] Administration& administration() override { return administration_; }
  [[nodiscard]] ClusterAdministration* cluster() override { return &orders_; }
  [[nodiscard]] Projections* projections() override { return &readers_->projections(); }
  [[nodiscard]] Tables* tables() override { return &projections_->tables(); }
  [[nodiscard]] Documents* documents() override { return &readers_->documents(); }
  [[nodiscard]] serving::Homes* homes() override { return of_doors_.get(); }
  [[nodiscard]] Groups* groups() override { return &readers_->groups(); }
  [[nodiscard]] ScheduledAppends& scheduled() override { return *scheduled_; }
  [[nodiscard]] Processes& processes() override { return processes_; }
  [[nodiscard]] AggregateDoor* aggregates() override { return hosts_ ? &aggregates_->door() : nullptr; }
  /// What is defined on other nodes is compared with its old events once they are there.
  [[nodiscard]] Result<void> host(const ServedKind& kind) {
    EVERSHARD_TRY(readers_->take(kind.kind->types(), cluster::NamedReaders::Defined::later));
    return aggregates_->door().host_kind(kind.kind, kind.host_options());
  }
  [[nodiscard]] Result<void> will_run(const ServedProcess& process) { return aggregates_->will_run(process); }
  [[nodiscard]] HistoryRetention& retention() override { return *retention_; }
  [[nodiscard]] Result<void> retain(const RetentionOrder& order, const Progress& progress) override {
    for (; homes_->open_here().empty();
         std::this_thread::sleep_for(std::chrono::milliseconds(200)))  // a gateway: for ever
      if (progress && !progress(0, 0)) return refuse(ErrorCode::cancelled, "no shard was open here");
    auto done = retention_->apply_here(order, progress);
    if (!done) return refuse(std::move(done).error());
    return {};
  }
  [[nodiscard]] Result<void> remove_settled_schedules(std::chrono::milliseconds keep, const RetentionOrder& order,
                                                      const Progress& progress) override {
    auto done = retention_->remove_settled_schedules_here(keep, order, progress);
    if (!done) return refuse(std::move(done).error());
    return {};
  }
  [[nodiscard]] Result<void> vacuum_events(const Progress& progress) override {
    return vacuum_events_of(*store_, *retention_, progress);
  }
  [[nodiscard]] Result<void> vacuum_documents(unsigned removed_percent, const Progress& progress) override {
    return documents_->vacuum(progress, removed_percent);
  }
  [[nodiscard]] Result<void> vacuum_projections(unsigned removed_percent, const Progress& progress) override {
    return projections_->host().vacuum(progress, removed_percent);
  }
  void serves_at(const std::vector<std::string>& addresses) override {
    if (!door_is_given_) node_->committer().serves_at(advertised_door(addresses, host_));
  }
  void serves_kurrent_at(const std::vector<std::string>& addresses) override {
    node_->committer().serves_kurrent_at(kurrent_door_.empty() ? advertised_door(addresses, host_) : kurrent_door_);
  }
  /// Says hello to the coordinator, who gives it shards: not before clients can be served.
  void begin() override {
    links_->attach(*node_);
    scheduled_->begin();
    removals_->begin();
    if (aggregates_) aggregates_->begin();
  }
  [[nodiscard]] Result<void> reload() override { return links_->reload_tls(); }
  [[nodiscard]] std::optional<Error> short_of_disk() override {
    auto admission = store_->admission();
    if (admission.kind != storage::Admission::Kind::disk) return {};
    return Error(ErrorCode::unavailable, std::move(admission.what));
  }
  [[nodiscard]] std::optional<Error> failed() override { return node_->committer().failed(); }
  [[nodiscard]] std::uint64_t rewritten() override { return rewritten_(); }
  [[nodiscard]] Result<RecordedEvent> event_again(GlobalPosition position, const std::optional<AggregateId>& aggregate,
                                                  const EventId& id) override {
    auto event = node_->event_again(position, aggregate, id);
    if (event) EVERSHARD_TRY(sealed_->sealing()->open(*event));
    return event;
  }
  [[nodiscard]] std::optional<Error> not_ready() override { return readiness_.look(); }
  [[nodiscard]] std::shared_ptr<const std::string> led() override { return links_->led_text(); }
  void close() override {
    if (std::exchange(closed_, true)) return;
    sealed_->stop_asking();  // who waits for a key keeps all else from stopping
    scheduled_->stop();
    if (aggregates_) aggregates_->stop();
    groups_->tell_who_left();
    documents_->close();
    links_->reads().close();  // what others read here ends soon
    homes_->stop();           // others ask again, where the shards will be
    readers_->stop();
    removals_->stop();
    retention_->close();
    groups_->stop();
    projections_->close();
    sealed_->stop();
    links_->detach();
    node_->committer().stop();
  }

 private:
  const bool door_is_given_;
  const std::string host_;  ///< for a door that listens at all addresses
  const std::string kurrent_door_;
  std::unique_ptr<storage::NodeStore> store_;
  std::unique_ptr<cluster::NodeLinks> links_;
  std::unique_ptr<cluster::ClusterNode> node_;
  cluster::KeyLinks key_links_;
  std::unique_ptr<cluster::SealedNode> sealed_;
  std::unique_ptr<cluster::RemovalWatch> removals_;
  const std::function<std::uint64_t()> rewritten_;
  const bool hosts_;                              ///< aggregates that are asked commands
  std::unique_ptr<MemberAggregates> aggregates_;  ///< null: the program has none, and no processes
  cluster::HomeLinks home_links_;
  std::unique_ptr<cluster::HomeCalls> homes_;
  std::unique_ptr<MemberHomes> of_doors_;
  NodeReadiness readiness_;
  std::unique_ptr<cluster::NodeProjections> projections_;
  std::unique_ptr<cluster::LazyDocuments> documents_;
  std::unique_ptr<cluster::ClusterGroups> groups_;
  std::unique_ptr<cluster::NamedReaders> readers_;  ///< the three before, as doors see them
  std::unique_ptr<cluster::ClusterRetention> retention_;
  std::unique_ptr<cluster::ScheduledHost> scheduled_;
  cluster::StoreProcesses processes_;
  cluster::UserEvents users_;
  MemberAdministration administration_;
  MemberOrders orders_;
  bool closed_ = false;
};

std::string name_of_this_machine() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "127.0.0.1";
}

}  // namespace

OpenStore open_member(MemberOptions options) {
  return [options = std::move(options)](const ServerOptions& server,
                                        serving::Log& log) -> Result<std::unique_ptr<StoreInService>> {
    auto link_options = options.links;
    link_options.long_reads = server.long_reads;
    link_options.refused = [&log](const std::string& whom, const Error& why) {
      log.warning("link refused", {{"peer", whom}, {"error", why.what}});
    };
    for (const auto& finding : unsafe(link_options.link)) log.warning("insecure, as asked for", {{"because", finding}});
    const auto shards = cluster::shards_to_join(link_options, server.store.data_dir, options.coordinator_timeout);
    if (!shards) return refuse(shards.error());
    link_options.link.who.shards = *shards;
    auto links = cluster::NodeLinks::open(std::move(link_options));
    if (!links) return refuse(std::move(links).error());
    log.info("listening",
             {{"speaks", "peers"}, {"address", options.links.listen_host + ':' + std::to_string((*links)->port())}});

    storage::StoreOptions store;
    store.data_dir = server.store.data_dir;
    store.create = server.store.create;
    store.tail_events = server.store.tail_events;
    store.block_cache_bytes = server.store.block_cache_bytes;
    store.memtable_bytes = server.store.memtable_bytes;
    store.disk_reserve_bytes = server.store.disk_reserve_bytes;
    const auto beside = store;
    auto opened = cluster::open_joined_store(**links, options.node, std::move(store), options.coordinator_timeout);
    if (!opened) return refuse(std::move(opened).error());

    cluster::ClusterNodeOptions node;
    node.store = beside;
    node.learn_bytes_per_second = options.learn_bytes_per_second;
    node.committer.zone = options.zone;
    node.committer.self = {options.node, cluster::random_incarnation()};
    node.committer.address =
        !options.address.empty() ? options.address : options.links.listen_host + ':' + std::to_string((*links)->port());
    node.committer.door = options.door;
    node.committer.version = options.version;
    node.committer.gateway = options.gateway;
    node.committer.skip_lost = options.skip_lost;
    node.committer.takes_sealed = true;
    node.committer.limits = server.store.limits;
    node.committer.warn = [&log](const Error& error) {
      log.error("cluster", {{"code", name_of(error.code)}, {"error", error.what}});
    };
    node.page_events_max = server.store.limits.page_events_max;
    auto member = std::make_unique<MemberStore>(
        std::move(*links), std::move(*opened), node,
        options.address.empty() ? name_of_this_machine() : host_of(options.address), options.kurrent_door, server);
    for (const auto& kind : server.kinds) EVERSHARD_TRY(member->host(kind));
    for (const auto& process : server.processes) EVERSHARD_TRY(member->will_run(process));
    return member;
  };
}

}  // namespace evershard::server
