#include "evershard/cluster/embedded/cluster.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "evershard/api/this_process.hpp"
#include "evershard/api/user_events.hpp"
#include "evershard/cluster/aggregates/cluster_aggregates.hpp"
#include "evershard/cluster/embedded/cluster_parts.hpp"
#include "evershard/cluster/groups/cluster_groups.hpp"
#include "evershard/cluster/keys/rewritten.hpp"
#include "evershard/cluster/keys/sealed_node.hpp"
#include "evershard/cluster/link/host_and_port.hpp"
#include "evershard/cluster/peers/aggregate_links.hpp"
#include "evershard/cluster/peers/home_links.hpp"
#include "evershard/cluster/peers/joined_store.hpp"
#include "evershard/cluster/peers/key_links.hpp"
#include "evershard/cluster/removal/cluster_retention.hpp"
#include "evershard/cluster/removal/removal_watch.hpp"
#include "evershard/cluster/views/node_projections.hpp"
#include "evershard/protocol/validate.hpp"
#include "evershard/services/documents/lazy_documents.hpp"
#include "evershard/services/names/named_readers.hpp"
#include "evershard/services/processes/process_host.hpp"
#include "evershard/services/processes/store_processes.hpp"
#include "evershard/services/scheduled/scheduled_host.hpp"
#include "evershard/services/timers/timer_host.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard {
namespace {

constexpr std::uint32_t node_max = 1'000'000;

Result<cluster::HostAndPort> place_of(const char* option, const std::string& text) {
  if (auto place = cluster::host_and_port(text)) return *std::move(place);
  return refuse(ErrorCode::invalid_argument, std::string(option) + " is \"" + text + "\", not HOST:PORT");
}

Result<cluster::HostAndPort> target_of(const char* option, const std::string& text) {
  auto place = place_of(option, text);
  if (place && !cluster::can_be_reached(*place))
    return refuse(ErrorCode::invalid_argument,
                  std::string(option) + " is \"" + text + "\": nobody can be told to go there");
  return place;
}

Result<cluster::NodeLinksOptions> links_of(const ClusterOptions& options) {
  cluster::NodeLinksOptions links;
  auto coordinators = cluster::hosts_and_ports(options.coordinator);
  if (coordinators.empty() || !std::ranges::all_of(coordinators, cluster::can_be_reached))
    return refuse(ErrorCode::invalid_argument, "coordinator is \"" + options.coordinator +
                                                   "\", not HOST:PORT where one can go, or several with commas");
  auto listen = place_of("peers_listen", options.peers_listen);
  if (!listen) return refuse(std::move(listen).error());
  if (!options.peers_address.empty()) {
    if (auto address = target_of("peers_address", options.peers_address); !address)
      return refuse(std::move(address).error());
  } else if (cluster::is_of_all(*listen)) {
    return refuse(ErrorCode::invalid_argument,
                  "peers_address is needed: peers_listen stands for all addresses of this machine, where do the others "
                  "reach it?");
  }
  links.coordinators = std::move(coordinators);
  links.listen_host = listen->host;
  links.listen_port = listen->port;
  links.timeout = options.timeout;
  links.link.who = {
      options.cluster, options.shards, sharding::hash_id, cluster::on_links(options.node), cluster::NodeRole::node, 0};
  links.link.insecure = options.peers_insecure;
  if (!options.secret_file.empty()) {
    auto secret = cluster::secret_of_file(options.secret_file);
    if (!secret) return refuse(std::move(secret).error());
    links.link.secret = std::move(*secret);
  }
  const auto& tls = options.tls;
  if (!tls.certificate.empty() || !tls.key.empty() || !tls.ca.empty())
    links.link.tls = cluster::LinkTls{tls.certificate, tls.key, tls.ca, tls.unbound};
  if (options.warn) {
    links.refused = [warn = options.warn](const std::string& whom, const Error& why) {
      warn(Error(why.code, "the link with " + whom + " was refused: " + why.what));
    };
  }
  EVERSHARD_TRY(cluster::check(links.link));
  return links;
}

Result<void> check_options(const ClusterOptions& options) {
  if (options.node == 0 || options.node > node_max) {
    return refuse(ErrorCode::invalid_argument, "node is " + std::to_string(options.node) +
                                                   ": nodes have numbers from 1 to " + std::to_string(node_max));
  }
  if (options.aggregates.recovery_permits == 0)
    return refuse(ErrorCode::invalid_argument, "aggregates.recovery_permits is at least 1");
  if (options.timeout <= std::chrono::milliseconds(0))
    return refuse(ErrorCode::invalid_argument, "timeout is more than 0");
  return check(options.limits);
}

/// Whose shards have the definitions.
bool all_are_there(const ClusterView& view) {
  return !view.shards.empty() && std::ranges::all_of(view.shards, [&](const auto& shard) {
    const auto* writer = view.find(shard.node);
    return shard.node == view.self || (writer != nullptr && writer->up);
  });
}

}  // namespace

struct Cluster::Impl {
  std::unique_ptr<storage::NodeStore> store;
  std::unique_ptr<cluster::NodeLinks> links;
  std::unique_ptr<cluster::ClusterNode> node;
  std::unique_ptr<cluster::KeyLinks> key_links;
  std::unique_ptr<cluster::SealedNode> sealed;
  std::unique_ptr<cluster::UserEvents> users;
  std::unique_ptr<cluster::RemovalWatch> removals;
  std::unique_ptr<cluster::AggregateLinks> aggregate_links;
  std::unique_ptr<cluster::ClusterAggregates> aggregates;
  std::unique_ptr<cluster::TimerHost> timers;
  std::unique_ptr<cluster::ProcessHost> processes;
  std::unique_ptr<cluster::ScheduledHost> scheduled;
  std::unique_ptr<cluster::StoreProcesses> seen_processes;
  std::unique_ptr<cluster::HomeLinks> home_links;
  std::unique_ptr<cluster::HomeCalls> homes;
  std::unique_ptr<cluster::NodeProjections> projections;
  std::unique_ptr<cluster::LazyDocuments> documents;
  std::unique_ptr<cluster::ClusterGroups> groups;
  std::unique_ptr<cluster::NamedReaders> readers;  ///< projections, documents and groups, as users see them
  std::unique_ptr<cluster::ClusterRetention> retention;
  std::once_flag closed;
  std::filesystem::path data_dir;
  Limits limits;
  std::string address;
  mutable std::mutex hosted_mutex;
  std::vector<std::shared_ptr<const AggregateKind>> hosted;  ///< under it

  /// Where all nodes are there, `host` is refused as it is in one process; else what misses an event is said later.
  Result<void> take_names(const KindTypes& types) {
    using Defined = cluster::NamedReaders::Defined;
    if (all_are_there(node->view())) {
      auto taken = readers->take(types, Defined::compared);
      if (taken || taken.error().code == ErrorCode::invalid_argument) return taken;
    }
    return readers->take(types, Defined::later);
  }
  /// Errors: as AggregateDoor::host_kind
  Result<void> host(std::shared_ptr<const AggregateKind> kind, HostOptions options) {
    EVERSHARD_TRY(take_names(kind->types()));
    EVERSHARD_TRY(aggregates->host_kind(std::move(kind), options));
    timers->begin();
    return {};
  }

  [[nodiscard]] std::function<std::uint64_t()> rewritten() const {
    return removals->with(cluster::rewritten_on(*store, sealed->sealing()));
  }

  ~Impl() {
    if (aggregates != nullptr) close();
    if (sealed != nullptr) sealed->stop();  // also where close() did not: it asks over the links
    links.reset();                          // before what its answers need
    readers.reset();
    retention.reset();
    groups.reset();
    documents.reset();
    projections.reset();
    homes.reset();
    seen_processes.reset();
    scheduled.reset();
    processes.reset();
    timers.reset();
    aggregates.reset();
    removals.reset();
    sealed.reset();
    node.reset();
  }

  void close() {
    std::call_once(closed, [this] {
      sealed->stop_asking();  // who waits for a key keeps all else from stopping
      scheduled->stop();
      processes->stop();
      timers->stop();
      aggregates->stop();  // next: what was sent is still written and answered
      groups->tell_who_left();
      documents->close();
      links->reads().close();  // what others read here ends soon
      homes->stop();           // others ask again, where the shards will be
      readers->stop();
      removals->stop();
      retention->close();
      groups->stop();
      projections->close();
      sealed->stop();
      links->detach();
      node->committer().stop();
    });
  }
};

Cluster::Cluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;
Cluster::~Cluster() = default;

Result<Cluster> Cluster::join(ClusterOptions options) {
  EVERSHARD_TRY(check_options(options));
  auto link_options = links_of(options);
  if (!link_options) return refuse(std::move(link_options).error());
  const auto listen_host = link_options->listen_host;
  auto impl = std::make_unique<Impl>();
  const auto shards = cluster::shards_to_join(*link_options, options.data_dir, options.coordinator_timeout);
  if (!shards) return refuse(shards.error());
  link_options->link.who.shards = *shards;
  auto links = cluster::NodeLinks::open(std::move(*link_options));
  if (!links) return refuse(std::move(links).error());
  impl->links = std::move(*links);

  storage::StoreOptions store;
  store.data_dir = options.data_dir;
  store.create = options.create;
  store.tail_events = options.tail_events;
  store.block_cache_bytes = options.block_cache_bytes;
  store.memtable_bytes = options.memtable_bytes;
  store.disk_reserve_bytes = options.disk_reserve_bytes;
  const auto beside = store;
  auto opened = cluster::open_joined_store(*impl->links, options.node, std::move(store), options.coordinator_timeout);
  if (!opened) return refuse(std::move(opened).error());
  impl->store = std::move(*opened);

  cluster::ClusterNodeOptions node;
  node.store = beside;
  node.committer.self = {options.node, cluster::random_incarnation()};
  node.committer.address =
      !options.peers_address.empty() ? options.peers_address : listen_host + ':' + std::to_string(impl->links->port());
  node.committer.version = EVERSHARD_VERSION;
  node.committer.skip_lost = options.skip_lost;
  node.committer.takes_sealed = true;
  node.committer.limits = options.limits;
  node.committer.append_timeout = options.timeout;
  node.committer.warn = options.warn;
  node.page_events_max = options.limits.page_events_max;
  node.timeout = options.timeout;
  impl->node = std::make_unique<cluster::ClusterNode>(*impl->store, *impl->links, node);
  impl->key_links = std::make_unique<cluster::KeyLinks>(*impl->links);
  impl->sealed = std::make_unique<cluster::SealedNode>(*impl->node, *impl->key_links);
  impl->key_links->serve(*impl->sealed->keys());
  impl->data_dir = options.data_dir;
  impl->limits = options.limits;
  impl->address = node.committer.address;
  auto& events = impl->sealed->events();
  impl->removals = std::make_unique<cluster::RemovalWatch>(events);
  impl->users = std::make_unique<cluster::UserEvents>(
      events,
      [all = impl.get()](const AggregateId& aggregate, const EventId& marker, GlobalPosition at_least) {
        return all->retention->take_over(aggregate, marker, at_least);
      },
      [all = impl.get()](const Query& query) { return all->readers->check_follower(query); });

  cluster::ClusterAggregatesOptions aggregates;
  aggregates.node = options.node;
  aggregates.host.live_max = options.aggregates.live_limit;
  aggregates.host.idle_after = options.aggregates.idle_after;
  aggregates.host.recovery_permits = options.aggregates.recovery_permits;
  aggregates.host.reading_threads = options.aggregates.reading_threads;
  aggregates.host.limits = options.limits;
  aggregates.host.fork = impl->store->identity().fork.text();
  aggregates.waiting_max = options.waiting_limit;
  aggregates.waiting_bytes_max = options.waiting_bytes;
  aggregates.sealing = impl->sealed->sealing();
  aggregates.sealing_queue = &impl->sealed->queue();
  impl->aggregate_links = std::make_unique<cluster::AggregateLinks>(*impl->links);
  impl->aggregates = std::make_unique<cluster::ClusterAggregates>(*impl->node, *impl->aggregate_links, aggregates);
  impl->aggregate_links->serve(*impl->aggregates);
  const cluster::DueHostOptions due{.lives_here = [node = impl->node.get(), self = options.node](
                                                      ShardId shard) { return node->committer().owner(shard) == self; },
                                    .warn = options.warn};
  impl->timers = std::make_unique<cluster::TimerHost>(
      events, [aggregates = impl->aggregates.get()]() -> AggregateDoor& { return *aggregates; }, due);
  impl->processes = std::make_unique<cluster::ProcessHost>(
      events, [aggregates = impl->aggregates.get()]() -> AggregateDoor& { return *aggregates; },
      cluster::ProcessHostOptions{.lives_here =
                                      [node = impl->node.get(), self = options.node](const AggregateId& aggregate) {
                                        return node->committer().owner(node->shard_of(aggregate)) == self;
                                      },
                                  .warn = options.warn,
                                  .name = "node " + std::to_string(options.node) + ", " + this_process(),
                                  .fork = impl->store->identity().fork.text(),
                                  .rewritten = impl->rewritten()});
  impl->seen_processes = std::make_unique<cluster::StoreProcesses>(events);
  impl->scheduled = std::make_unique<cluster::ScheduledHost>(events, options.limits, due);
  impl->home_links = std::make_unique<cluster::HomeLinks>(*impl->links);
  impl->homes = std::make_unique<cluster::HomeCalls>(*impl->node, *impl->home_links,
                                                     cluster::HomeCallsOptions{.node = options.node});
  impl->projections = std::make_unique<cluster::NodeProjections>(
      *impl->node, *impl->homes,
      cluster::NodeProjectionsOptions{
          .data_dir = options.data_dir, .engine = {.warn = options.warn}, .events = &events});
  impl->home_links->serve(*impl->homes);
  const auto& identity = impl->store->identity();
  cluster::StoreDocumentsOptions documents{.owner = {identity.store, identity.fork}, .removals = true};
  if (!options.data_dir.empty()) documents.folder = options.data_dir / "documents";
  documents.engine.warn = options.warn;
  impl->documents = std::make_unique<cluster::LazyDocuments>(events, std::move(documents));
  cluster::ClusterGroupsOptions groups{
      .host = {.fork_id = identity.fork.text(), .rewritten = impl->rewritten(), .warn = options.warn}};
  groups.events = &events;
  groups.open = [sealing = impl->sealed->sealing()](RecordedEvent& event) { return sealing->open(event); };
  impl->groups = std::make_unique<cluster::ClusterGroups>(*impl->node, *impl->homes, std::move(groups));
  impl->readers = std::make_unique<cluster::NamedReaders>(&impl->projections->projections(), *impl->documents,
                                                          *impl->groups, options.warn);
  impl->retention = std::make_unique<cluster::ClusterRetention>(
      *impl->node, *impl->store, *impl->homes,
      cluster::NodeRetentionOptions{.touched = [aggregates = impl->aggregates.get()](
                                                   const AggregateId& aggregate) { aggregates->passivate(aggregate); },
                                    .heard = [removals = impl->removals.get()] { removals->heard(); },
                                    .keys = impl->sealed->keys()});
  impl->links->attach(*impl->node);  // last: from here on the node is given shards, and asked
  impl->scheduled->begin();
  impl->removals->begin();
  return Cluster(std::move(impl));
}

ClusterParts ClusterParts::of(Cluster& cluster) {
  auto& impl = *cluster.impl_;
  return {*impl.store,     *impl.links,  *impl.node,      *impl.homes,     *impl.projections,
          *impl.documents, *impl.groups, *impl.retention, *impl.scheduled, impl.data_dir,
          impl.limits,     impl.address, impl.rewritten()};
}

void Cluster::close() {
  if (impl_) impl_->close();
}

EventStore& Cluster::events() const { return *impl_->users; }

Result<void> Cluster::host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) {
  EVERSHARD_TRY(impl_->host(kind, options));
  const std::lock_guard lock(impl_->hosted_mutex);
  impl_->hosted.push_back(std::move(kind));
  return {};
}
std::vector<std::shared_ptr<const AggregateKind>> Cluster::hosted_kinds() const {
  const std::lock_guard lock(impl_->hosted_mutex);
  return impl_->hosted;
}
Result<void> Cluster::run_process(std::shared_ptr<const ProcessDefinition> process, ProcessOptions options,
                                  Effects effects) {
  EVERSHARD_TRY(actors::ProcessDriver::check(*process, options, effects));  // before it is hosted: that is for good
  EVERSHARD_TRY(impl_->host(process->kind, {}));
  return impl_->processes->run(std::move(process), options, std::move(effects));
}
std::vector<ProcessStatus> Cluster::process_status() const { return impl_->processes->status(); }
Asking Cluster::ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command,
                          AskOptions options, AnswerDone done) {
  return impl_->aggregates->ask_bytes(aggregate, std::move(command_type), std::move(command), std::move(options),
                                      std::move(done));
}
AnyAnswer Cluster::ask_and_wait(const AggregateId& aggregate, std::string command_type, std::string command,
                                AskOptions options) {
  return impl_->aggregates->ask_and_wait(aggregate, std::move(command_type), std::move(command), std::move(options));
}
Result<StateBytes> Cluster::state_bytes(const AggregateId& aggregate, StateRead how,
                                        std::chrono::milliseconds timeout) {
  return impl_->aggregates->state_bytes(aggregate, how, timeout);
}
Result<StateBytes> Cluster::state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) {
  return impl_->aggregates->state_bytes_at(aggregate, up_to);
}
Result<void> Cluster::take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) {
  return impl_->aggregates->take_snapshot(aggregate, timeout);
}
void Cluster::passivate(const AggregateId& aggregate) { impl_->aggregates->passivate(aggregate); }

Projections& Cluster::projections() { return impl_->readers->projections(); }
Tables& Cluster::tables() { return impl_->projections->tables(); }
Result<void> Cluster::add_table_handler(const std::string& name, TableHandler handler) {
  EVERSHARD_TRY(impl_->readers->add_handler(name, handler));
  return impl_->projections->add_table_handler(name, std::move(handler));
}
Documents& Cluster::documents() { return impl_->readers->documents(); }
Groups& Cluster::groups() { return impl_->readers->groups(); }
Processes& Cluster::processes() { return *impl_->seen_processes; }
ScheduledAppends& Cluster::scheduled() { return *impl_->scheduled; }
HistoryRetention& Cluster::retention() { return *impl_->retention; }
Result<RetentionResult> Cluster::remove_settled_schedules(std::chrono::milliseconds keep, RetentionOrder order,
                                                          Progress progress) {
  return impl_->retention->remove_settled_schedules_here(keep, order, progress);
}

std::uint32_t Cluster::node_of(const AggregateId& aggregate) const {
  return impl_->node->committer().owner(impl_->node->shard_of(aggregate));
}

std::vector<std::pair<std::string, std::uint64_t>> Cluster::figures() const {
  const auto sum = impl_->aggregates->figures();
  std::vector<std::pair<std::string, std::uint64_t>> figures{
      {"known", sum.known}, {"live", sum.live}, {"waiting", impl_->aggregates->waiting()}};
  sum.counters.each([&](const char* name, std::uint64_t count) { figures.emplace_back(name, count); });
  return figures;
}

}  // namespace evershard
