#include "evershard/local/local.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "evershard/api/no_tables.hpp"
#include "evershard/api/this_process.hpp"
#include "evershard/local/local_administration.hpp"
#include "evershard/local/local_events.hpp"
#include "evershard/local/local_projections.hpp"
#include "evershard/local/node.hpp"
#include "evershard/local/retention_door.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/services/documents/lazy_documents.hpp"
#include "evershard/services/engine/event_ids.hpp"
#include "evershard/services/erasure/key_folder.hpp"
#include "evershard/services/erasure/sealed_events.hpp"
#include "evershard/services/groups/host/group_host.hpp"
#include "evershard/services/names/named_readers.hpp"
#include "evershard/services/processes/process_host.hpp"
#include "evershard/services/processes/store_processes.hpp"
#include "evershard/services/scheduled/scheduled_host.hpp"
#include "evershard/services/tables/host/host_tables.hpp"
#include "evershard/services/tables/host/parted_tables.hpp"
#include "evershard/services/timers/timer_host.hpp"
#include "evershard/storage/repair/backup.hpp"

namespace evershard {

using cluster::Node;

struct Local::Impl {
  std::shared_ptr<Node> node;  ///< shared with every stream and feed

  std::unique_ptr<cluster::LocalEvents> stored;
  std::unique_ptr<cluster::SealedEvents> sealed{};  ///< none: there are no keys
  EventStore* events = stored.get();
  std::shared_ptr<cluster::TableHandlers> handlers = std::make_shared<cluster::TableHandlers>();
  std::unique_ptr<cluster::ProjectionHost> projections{};  ///< none: they were not wanted
  std::unique_ptr<cluster::HostTables> tables{};           ///< the same
  std::unique_ptr<cluster::PartedTables> parted{};         ///< the same, as users see both
  std::unique_ptr<cluster::LazyDocuments> documents{};
  std::unique_ptr<cluster::GroupHost> groups{};
  std::unique_ptr<cluster::NamedReaders> readers{};  ///< projections, documents and groups, as users see them
  cluster::RetentionDoor retention{node};
  std::unique_ptr<cluster::TimerHost> timers{};
  std::unique_ptr<cluster::ProcessHost> processes{};
  std::unique_ptr<cluster::ScheduledHost> scheduled{};
  std::unique_ptr<cluster::StoreProcesses> seen_processes{};
  std::unique_ptr<cluster::LocalAdministration> administration{};
  struct Hosted {
    std::mutex mutex;
    std::vector<std::shared_ptr<const AggregateKind>> kinds;
  };
  std::unique_ptr<Hosted> hosted = std::make_unique<Hosted>();

  /// Errors: as AggregateDoor::host_kind
  Result<void> host(std::shared_ptr<const AggregateKind> kind, HostOptions options) {
    EVERSHARD_TRY(readers->take(kind->types()));
    EVERSHARD_TRY(node->aggregates().host_kind(std::move(kind), options));
    timers->begin();
    return {};
  }
};

Result<Local> Local::open(LocalOptions options) {
  cluster::NodeOptions parts{.limits = options.limits, .at_least_timeout = options.at_least_timeout};
  auto& store = parts.store;
  store.data_dir = std::move(options.data_dir);
  store.shards = options.shards;
  store.create = options.create && !options.read_only;
  store.read_only = options.read_only;
  store.tail_events = options.tail_events;
  store.block_cache_bytes = options.block_cache_bytes;
  store.memtable_bytes = options.memtable_bytes;
  store.disk_reserve_bytes = options.disk_reserve_bytes;
  parts.aggregates.live_max = options.aggregates.live_limit;
  parts.aggregates.idle_after = options.aggregates.idle_after;
  parts.aggregates.recovery_permits = options.aggregates.recovery_permits;
  parts.aggregates.reading_threads = options.aggregates.reading_threads;
  if (options.aggregates.recovery_permits == 0)
    return refuse(ErrorCode::invalid_argument, "aggregates.recovery_permits is at least 1");
  if (!options.keys_dir.empty()) {
    auto keys =
        cluster::KeyFolder::open(std::move(options.keys_dir), store.data_dir,
                                 options.create_keys && !options.read_only ? cluster::KeyFolder::Missing::create
                                                                           : cluster::KeyFolder::Missing::refuse);
    if (!keys) return refuse(std::move(keys).error());
    parts.keys = *std::move(keys);
  }
  auto node = Node::open(std::move(parts));
  if (!node) return refuse(std::move(node).error());
  auto impl = std::make_unique<Impl>(Impl{*node, std::make_unique<cluster::LocalEvents>(*node)});
  if ((*node)->sealing()) {
    impl->sealed = std::make_unique<cluster::SealedEvents>(*impl->stored, (*node)->sealing());
    impl->events = impl->sealed.get();
  }
  impl->groups = std::make_unique<cluster::GroupHost>(
      *impl->events, cluster::GroupHostOptions{.fork_id = (*node)->store().identity().fork.text(),
                                               .rewritten = [of = node->get()] { return of->rewritten(); },
                                               .warn = options.warn});
  EventIdStanding event_id_at;  // in memory there are no rows of another time
  if (!(*node)->data_dir().empty()) event_id_at = cluster::event_ids_of(*impl->stored);
  if (options.projections.enabled && !options.read_only) {
    impl->projections = cluster::local_projections(*impl->events, **node, options.projections, impl->handlers,
                                                   event_id_at, options.warn);
    impl->tables = std::make_unique<cluster::HostTables>(*impl->events, *impl->projections);
    impl->parted = std::make_unique<cluster::PartedTables>(
        *impl->events, *impl->projections, *impl->tables,
        cluster::PartedTablesOptions{.hosted = [host = impl->projections.get()] { return host->hosted(); },
                                     .warn = options.warn});
    impl->projections->begin();
    impl->parted->begin();
  }
  const auto& identity = (*node)->store().identity();
  cluster::StoreDocumentsOptions documents{.owner = {identity.store, identity.fork}, .removals = true};
  if (!(*node)->data_dir().empty() && !options.read_only) documents.folder = (*node)->data_dir() / "documents";
  documents.engine.event_id_at = std::move(event_id_at);
  documents.engine.warn = options.warn;
  impl->documents = std::make_unique<cluster::LazyDocuments>(*impl->events, std::move(documents));
  if (options.projections.enabled && !options.read_only) impl->documents->begin();
  impl->readers = std::make_unique<cluster::NamedReaders>(impl->parted.get(), *impl->documents, *impl->groups);
  const auto aggregates = [host = node->get()]() -> AggregateDoor& { return host->aggregates(); };
  // What only looks starts nothing; nor does a backup, whose schedules and timers are its store's.
  const bool backup = !(*node)->data_dir().empty() && storage::is_backup((*node)->data_dir());
  if (backup && options.warn)
    options.warn({ErrorCode::invalid_argument,
                  in_quotes((*node)->data_dir().string(), 300) +
                      " is a backup: scheduled appends and timers that are due wait until it is restored"});
  impl->timers = std::make_unique<cluster::TimerHost>(*impl->events, aggregates,
                                                      cluster::DueHostOptions{.warn = options.warn, .fires = !backup});
  impl->processes = std::make_unique<cluster::ProcessHost>(
      *impl->events, aggregates,
      cluster::ProcessHostOptions{.warn = options.warn,
                                  .name = this_process(),
                                  .fork = (*node)->store().identity().fork.text(),
                                  .rewritten = [of = node->get()] { return of->rewritten(); }});
  impl->seen_processes = std::make_unique<cluster::StoreProcesses>(*impl->events);
  impl->scheduled = std::make_unique<cluster::ScheduledHost>(
      *impl->events, (*node)->limits(),
      cluster::DueHostOptions{.warn = options.warn, .fires = options.makes_scheduled && !options.read_only && !backup});
  if (options.makes_scheduled && !options.read_only) impl->scheduled->begin_if_any();
  impl->administration = cluster::local_administration(
      {*node, *impl->documents, *impl->groups, impl->projections.get(), *impl->timers, *impl->scheduled});
  return Local(std::move(impl));
}

Local::Local(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Local::Local(Local&&) noexcept = default;

Local& Local::operator=(Local&& other) noexcept {
  if (this == &other) return *this;
  close();
  impl_ = std::move(other.impl_);
  return *this;
}

Local::~Local() { close(); }

void Local::close() {
  if (!impl_) return;
  impl_->scheduled->stop();
  impl_->processes->stop();
  impl_->timers->stop();
  if (impl_->documents) impl_->documents->close();
  impl_->groups->stop();  // stores the groups' state, before the store takes no more writes
  if (impl_->parted) impl_->parted->close();
  if (impl_->projections) impl_->projections->close();
  impl_->node->close();
}

Result<Appended> Local::append(Append append) {
  EVERSHARD_TRY(check_reserved(append));
  const auto removals = removals_of(append);
  auto appended = impl_->events->append(std::move(append));
  if (removals.empty() || !appended) return appended;
  // The row that hides an aggregate comes behind its event: where this is broken off, the same append again writes it.
  EVERSHARD_TRY(impl_->events->wait_for(appended->last_position, impl_->node->at_least_timeout()));
  const auto use = impl_->node->enter();
  if (!use) return refuse(use.error());
  for (const auto& [aggregate, event] : removals) EVERSHARD_TRY(impl_->node->retention().take_over(aggregate, event));
  return appended;
}

void Local::append_async(Append append, AppendCompletion done) {
  if (!removals_of(append).empty()) return done(this->append(std::move(append)));
  if (auto checked = check_reserved(append); !checked) return done(refuse(std::move(checked).error()));
  impl_->events->append_async(std::move(append), std::move(done));
}

EventFeed Local::follow(Query query, FollowOptions options) {
  if (auto reads_all = impl_->readers->check_follower(query); !reads_all)
    return EventFeed(std::move(reads_all).error());
  return impl_->events->follow(std::move(query), options);
}

Result<void> Local::put_snapshot(Snapshot snapshot) {
  EVERSHARD_TRY(check_reserved(snapshot));
  return impl_->events->put_snapshot(std::move(snapshot));
}

EventStore& Local::events() const { return *impl_->events; }

Documents& Local::documents() { return impl_->readers->documents(); }

Groups& Local::groups() { return impl_->readers->groups(); }

Projections& Local::projections() { return impl_->readers->projections(); }

Tables& Local::tables() {
  static cluster::NoTables none;
  if (!impl_->parted) return none;
  return *impl_->parted;
}

Result<void> Local::add_table_handler(const std::string& name, TableHandler handler) {
  EVERSHARD_TRY(impl_->readers->add_handler(name, handler));
  EVERSHARD_TRY(impl_->handlers->add(name, std::move(handler)));
  if (impl_->projections) impl_->projections->retry();
  return {};
}

Processes& Local::processes() { return *impl_->seen_processes; }
ScheduledAppends& Local::scheduled() { return *impl_->scheduled; }
EventStore& Local::all_names() { return *impl_->events; }
HistoryRetention& Local::retention() { return impl_->retention; }

Result<RetentionResult> Local::remove_settled_schedules(std::chrono::milliseconds keep, RetentionOrder order,
                                                        Progress progress) {
  return impl_->retention.remove_settled_schedules(keep, order, std::move(progress));
}

Result<void> Local::host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) {
  EVERSHARD_TRY(impl_->host(kind, options));
  const std::lock_guard lock(impl_->hosted->mutex);
  impl_->hosted->kinds.push_back(std::move(kind));
  return {};
}

std::vector<std::shared_ptr<const AggregateKind>> Local::hosted_kinds() const {
  const std::lock_guard lock(impl_->hosted->mutex);
  return impl_->hosted->kinds;
}

const std::filesystem::path& Local::data_dir() const { return impl_->node->data_dir(); }
const Limits& Local::limits() const { return impl_->node->limits(); }

Asking Local::ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command, AskOptions options,
                        AnswerDone done) {
  return impl_->node->aggregates().ask_bytes(aggregate, std::move(command_type), std::move(command), std::move(options),
                                             std::move(done));
}

AnyAnswer Local::ask_and_wait(const AggregateId& aggregate, std::string command_type, std::string command,
                              AskOptions options) {
  return impl_->node->aggregates().ask_and_wait(aggregate, std::move(command_type), std::move(command),
                                                std::move(options));
}

Result<StateBytes> Local::state_bytes(const AggregateId& aggregate, StateRead how, std::chrono::milliseconds timeout) {
  return impl_->node->aggregates().state_bytes(aggregate, how, timeout);
}

Result<StateBytes> Local::state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) {
  return impl_->node->aggregates().state_bytes_at(aggregate, up_to);
}

Result<void> Local::take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) {
  return impl_->node->aggregates().take_snapshot(aggregate, timeout);
}

void Local::passivate(const AggregateId& aggregate) { impl_->node->aggregates().passivate(aggregate); }

Result<void> Local::run_process(std::shared_ptr<const ProcessDefinition> process, ProcessOptions options,
                                Effects effects) {
  EVERSHARD_TRY(actors::ProcessDriver::check(*process, options, effects));  // before it is hosted: that is for good
  EVERSHARD_TRY(impl_->host(process->kind, {}));
  return impl_->processes->run(std::move(process), options, std::move(effects));
}

std::vector<ProcessStatus> Local::process_status() const { return impl_->processes->status(); }

Administration& Local::administration() const { return *impl_->administration; }

std::uint64_t Local::rewritten() const { return impl_->node->rewritten(); }

std::optional<Error> Local::cannot_write() const {
  const auto use = impl_->node->enter();
  if (!use) return use.error();
  const auto admission = impl_->node->store().admission();
  if (admission.kind != storage::Admission::Kind::failed) return {};
  return Error(ErrorCode::io, admission.what);
}

std::optional<Error> Local::short_of_disk() const {
  const auto use = impl_->node->enter();
  if (!use) return {};  // it is closed
  auto admission = impl_->node->store().admission();
  if (admission.kind != storage::Admission::Kind::disk) return {};
  return Error(ErrorCode::unavailable, std::move(admission.what));
}

Result<void> Local::vacuum_events(Progress progress) {
  return impl_->administration->vacuum_events(std::move(progress));
}

Result<void> Local::vacuum_documents(unsigned removed_percent, Progress progress) {
  return impl_->administration->vacuum_documents(removed_percent, std::move(progress));
}

Result<void> Local::vacuum_projections(unsigned removed_percent, Progress progress) {
  return impl_->administration->vacuum_projections(removed_percent, std::move(progress));
}

}  // namespace evershard
